//! The application in a page of a browser.

use crate::app::explorer::Explorer;
use crate::app::explorer::link::own_lesson;
use crate::app::explorer::settings::SettingsFile;
use crate::files;
use crate::run::{Planner, Run, RunSpec};
use eframe::{WebOptions, WebRunner};
use std::path::PathBuf;
use std::sync::Arc;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlCanvasElement, Response, Url, window};

/// The canvas of the page.
const CANVAS: &str = "tilescope";

/// Runs the application in the canvas `tilescope` of the page that loads it.
///
/// # Errors
/// If the page has no such canvas, or the browser no WebGL.
#[wasm_bindgen(start)]
pub async fn run() -> Result<(), JsValue> {
    let document = window().and_then(|window| window.document());
    let canvas = document.and_then(|document| document.get_element_by_id(CANVAS));
    let canvas: HtmlCanvasElement = canvas.ok_or("the page has no canvas")?.dyn_into()?;
    let shown = window().ok_or(JsValue::UNDEFINED)?.location().hash()?;
    let lesson = match own_lesson(&shown) {
        Some(address) => Some(
            fetch(address)
                .await
                .map_err(|why| format!("The lesson {address} cannot be read: {why}.")),
        ),
        None => None,
    };
    let create: eframe::AppCreator<'static> = Box::new(move |context| {
        let settings_file = SettingsFile::of_user();
        let mut explorer = Explorer::with_settings(&context.egui_ctx, None, settings_file)?;
        match lesson {
            Some(file) => explorer.show_own_lesson(file),
            None => explorer.follow_link(&shown),
        }
        Ok(Box::new(explorer))
    });
    WebRunner::new().start(canvas, WebOptions::default(), create).await
}

/// Gives a file of the page's own origin to the page, and returns its name; or why it cannot be read.
async fn fetch(address: &str) -> Result<PathBuf, String> {
    let refused = |_: JsValue| "the browser refused it".to_owned();
    let window = window().ok_or("the page has no window")?;
    let location = window.location();
    let base = location.href().map_err(refused)?;
    let url = Url::new_with_base(address, &base).map_err(|_| "it is not an address")?;
    if url.origin() != location.origin().map_err(refused)? {
        return Err("it is on another server, and a page can read only files of its own".to_owned());
    }
    let response = JsFuture::from(window.fetch_with_str(&url.href()));
    let response: Response = response.await.map_err(refused)?.unchecked_into();
    if !response.ok() {
        return Err(format!("the server answered {}", response.status()));
    }
    let bytes = JsFuture::from(response.array_buffer().map_err(refused)?).await.map_err(refused)?;
    let path = PathBuf::from(url.pathname());
    files::give(&path, js_sys::Uint8Array::new(&bytes).to_vec());
    Ok(path)
}

/// Makes a run to its end, and returns the number that stands for every bit of it (`run::fingerprint`), in hexadecimal: a
/// page has the same as the program of a desktop.
///
/// # Errors
/// Why the run cannot be made, in one sentence.
#[wasm_bindgen]
pub fn fingerprint(description: &str) -> Result<String, String> {
    let message = |error: &dyn std::fmt::Display| error.to_string();
    let spec = RunSpec::from_toml(description, "the run").map_err(|e| message(&e))?;
    let plan = Arc::new(Planner::default().plan(&spec).map_err(|e| message(&e))?);
    let mut run = Run::new(&plan).map_err(|e| message(&e))?;
    while run.outcome().is_none() {
        run.advance(u64::MAX).map_err(|e| message(&e))?;
    }
    let number = crate::run::fingerprint(&run).map_err(|e| message(&e))?;
    Ok(format!("{number:016x}"))
}
