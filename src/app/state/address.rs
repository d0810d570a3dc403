//! The address of the page in a browser that the window is in. On a desktop it is in none.

/// The address of the page, without what it is to show.
#[cfg(target_arch = "wasm32")]
pub fn page() -> Option<String> {
    let location = web_sys::window()?.location();
    Some(format!("{}{}", location.origin().ok()?, location.pathname().ok()?))
}

#[cfg(not(target_arch = "wasm32"))]
pub fn page() -> Option<String> {
    None
}
