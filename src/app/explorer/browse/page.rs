//! The browser's file dialog, and files dropped on the page: a page is given their bytes, which it then opens by name.

use crate::app::state::command::BrowseFor;
use crate::files;
use eframe::egui;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{File, HtmlInputElement, window};

/// Dropped files whose bytes have come.
static ARRIVED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Every browser has one.
pub fn has_system_dialog() -> bool {
    true
}

/// Shows the dialog, and calls `chosen` with the name of the file once its bytes have come, or with `None` if it was
/// cancelled.
///
/// # Errors
/// If the browser shows none.
pub fn browse(
    what: BrowseFor,
    chosen: impl FnOnce(BrowseFor, Option<PathBuf>) + 'static,
) -> io::Result<()> {
    let input = file_input().ok_or(io::ErrorKind::Unsupported)?;
    let answer = {
        let input = input.clone();
        Closure::once_into_js(move || {
            let file = input.files().and_then(|files| files.get(0));
            spawn_local(async move {
                let path = match file {
                    Some(file) => read(&file).await,
                    None => None,
                };
                chosen(what, path);
            });
        })
    };
    // One of the two comes, and only the first counts.
    let answer: &js_sys::Function = answer.unchecked_ref();
    input.set_onchange(Some(answer));
    input.add_event_listener_with_callback("cancel", answer).map_err(|_| io::ErrorKind::Other)?;
    input.click();
    Ok(())
}

/// The files that were dropped on the page, in this frame or before, and whose bytes have come since the last call.
pub fn dropped(context: &egui::Context) -> Vec<PathBuf> {
    for file in context.input(|input| input.raw.dropped_files.clone()) {
        let context = context.clone();
        spawn_local(async move {
            // Without its bytes it cannot be opened, which is then said.
            if let Ok(bytes) = file.bytes_async().await {
                files::give(file.path(), bytes);
            }
            let path = file.path().to_owned();
            ARRIVED.lock().unwrap_or_else(PoisonError::into_inner).push(path);
            context.request_repaint();
        });
    }
    std::mem::take(&mut *ARRIVED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A control for files, which is not part of the page.
fn file_input() -> Option<HtmlInputElement> {
    let input = window()?.document()?.create_element("input").ok()?;
    let input: HtmlInputElement = input.unchecked_into();
    input.set_type("file");
    Some(input)
}

/// Gives a file to the page, and returns its name.
async fn read(file: &File) -> Option<PathBuf> {
    let bytes = JsFuture::from(file.array_buffer()).await.ok()?;
    let path = PathBuf::from(file.name());
    files::give(&path, js_sys::Uint8Array::new(&bytes).to_vec());
    Some(path)
}
