//! A NumPy array whose values stay in its file.

#[cfg(not(target_arch = "wasm32"))]
mod disk;
#[cfg(target_arch = "wasm32")]
mod page;

#[cfg(not(target_arch = "wasm32"))]
pub use disk::MappedArray;
#[cfg(target_arch = "wasm32")]
pub use page::MappedArray;
