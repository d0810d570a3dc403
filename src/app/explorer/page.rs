//! The application in a page of a browser.

use crate::app::explorer::Explorer;
use crate::app::explorer::settings::SettingsFile;
use crate::run::{Planner, Run, RunSpec};
use eframe::{WebOptions, WebRunner};
use std::sync::Arc;
use wasm_bindgen::prelude::*;
use web_sys::{HtmlCanvasElement, window};

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
    let create: eframe::AppCreator<'static> = Box::new(|context| {
        let settings_file = SettingsFile::of_user();
        let mut explorer = Explorer::with_settings(&context.egui_ctx, None, settings_file)?;
        explorer.follow_link(&context.integration_info.web_info.location.hash);
        Ok(Box::new(explorer))
    });
    WebRunner::new().start(canvas, WebOptions::default(), create).await
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
