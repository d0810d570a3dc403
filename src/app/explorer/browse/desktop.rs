//! The system's file dialog, through the desktop portal where there is one, and files dropped on the window.

use crate::app::state::command::BrowseFor;
use crate::run::host::aside;
use eframe::egui;
use std::io;
use std::path::PathBuf;

/// The file by which a session's bus starts the desktop portal, in one of the data folders.
#[cfg(all(unix, not(target_os = "macos")))]
const PORTAL: &str = "dbus-1/services/org.freedesktop.portal.Desktop.service";

/// Whether the system has a file dialog: elsewhere always, on a Linux desktop if there is a portal.
#[cfg(all(unix, not(target_os = "macos")))]
pub fn has_system_dialog() -> bool {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let has_bus = folder("DBUS_SESSION_BUS_ADDRESS").is_some()
        || folder("XDG_RUNTIME_DIR").is_some_and(|runtime| runtime.join("bus").exists());
    let folders = std::env::var_os("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share".into());
    has_bus && std::env::split_paths(&folders).any(|data| data.join(PORTAL).exists())
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub fn has_system_dialog() -> bool {
    true
}

/// Shows the dialog on a thread of its own, and calls `chosen` there with the file, or with `None` if it was cancelled
/// or cannot be shown. The thread is not waited for when the window is closed: the dialog may stay open.
///
/// # Errors
/// If the thread cannot be started.
pub fn browse(
    what: BrowseFor,
    chosen: impl FnOnce(BrowseFor, Option<PathBuf>) + Send + 'static,
) -> io::Result<()> {
    let show = move || {
        let path = show(&what);
        chosen(what, path);
    };
    aside("tilescope-browse", show).map(drop)
}

/// The files that were dropped on the window in this frame.
pub fn dropped(context: &egui::Context) -> Vec<PathBuf> {
    let dropped = context.input(|input| input.raw.dropped_files.clone());
    dropped.iter().map(|file| file.path().to_owned()).collect()
}

/// Shows the dialog, and waits for its end.
fn show(what: &BrowseFor) -> Option<PathBuf> {
    let dialog = rfd::FileDialog::new();
    match what {
        BrowseFor::Open(folder) => dialog
            .set_title("Open")
            .set_directory(folder)
            .add_filter("Runs and figures", &["toml", "png", "apng", "svg", "pdf"])
            .add_filter("Images and arrays", &["png", "jpg", "jpeg", "npy", "mtx"])
            .add_filter("Sparse matrices", &["mtx", "gz"])
            .add_filter("Lessons", &["md"])
            .add_filter("All files", &["*"])
            .pick_file(),
        BrowseFor::Save(path) => {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            let folder = path.parent().map(PathBuf::from).unwrap_or_default();
            dialog.set_title("Save").set_directory(folder).set_file_name(name).save_file()
        }
    }
}
