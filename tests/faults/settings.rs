//! The settings of the window on a disk that fails. The test starts itself again as a window without a screen, with
//! each operation failing in turn.

use super::injected::{DISK_FULL, INPUT_OUTPUT, each_fault, with_fault};
use eframe::App;
use eframe::egui::{CentralPanel, Context, RawInput, Theme};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};
use tilescope::app::{Explorer, SettingsFile};

/// In the environment of the window: its file of settings, and the file that marks a fault.
const FILE: &str = "TILESCOPE_TEST_SETTINGS";
const MARK: &str = "FAULT_MARK";

/// Long enough for any machine to write a small file.
const PATIENCE: Duration = Duration::from_secs(60);

/// Draws the window until it has saved a change, or could not.
fn change_a_setting(path: &Path) {
    let before = fs::read(path).ok();
    let mark = std::env::var_os(MARK).expect("it is set together with the path");
    let context = Context::default();
    let settings = SettingsFile::at(path.to_owned());
    let mut explorer = Explorer::with_settings(&context, None, settings).unwrap();
    let mut frame = eframe::Frame::_new_kittest();
    let begin = Instant::now();
    let mut frames_after = 0;
    for number in 0.. {
        let input = RawInput { time: Some(f64::from(number) / 10.0), ..RawInput::default() };
        let mut output = context.run_ui(input, |ui| {
            explorer.logic(&ui.ctx().clone(), &mut frame);
            CentralPanel::no_frame().show(ui, |ui| explorer.ui(ui, &mut frame));
        });
        output.textures_delta.clear();
        context.set_theme(Theme::Light);
        let is_over = fs::read(path).ok() != before || Path::new(&mark).exists();
        frames_after += u32::from(is_over);
        if frames_after > 20 {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "nothing was saved");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn settings_are_whole_or_not_there() {
    if let Some(path) = std::env::var_os(FILE) {
        return change_a_setting(Path::new(&path));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.toml");
    let save = |fault: &str| {
        let mut window = Command::new(std::env::current_exe().unwrap());
        window.args(["--exact", "settings::settings_are_whole_or_not_there"]).env(FILE, &path);
        let (output, has_failed) = with_fault(&mut window, fault);
        assert!(output.status.success(), "{fault}: {output:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{fault}");
        has_failed
    };
    save("none,0,0");
    let light = fs::read_to_string(&path).unwrap();
    let dark = light.replace("dark = false", "dark = true");
    assert_ne!(dark, light);
    for (operation, error) in [
        ("write", DISK_FULL),
        ("write", INPUT_OUTPUT),
        ("fsync", DISK_FULL),
        ("rename", INPUT_OUTPUT),
        ("create", DISK_FULL),
        ("create", INPUT_OUTPUT),
    ] {
        let faults = each_fault(operation, error, |fault| {
            fs::write(&path, &dark).unwrap();
            let has_failed = save(fault);
            let is_left = fs::read_to_string(&path).unwrap() == dark;
            assert_eq!(is_left, has_failed, "{fault}");
            has_failed
        });
        assert!(faults > 0, "no {operation} was made to fail");
    }
    // At the first start there is no folder yet.
    let first = tempfile::tempdir().unwrap();
    let mut window = Command::new(std::env::current_exe().unwrap());
    window
        .args(["--exact", "settings::settings_are_whole_or_not_there"])
        .env(FILE, first.path().join("tilescope/settings.toml"));
    let (output, has_failed) = with_fault(&mut window, &format!("mkdir,1,{DISK_FULL}"));
    assert!(output.status.success() && has_failed, "{output:?}");
    assert_eq!(fs::read_dir(first.path()).unwrap().count(), 0);
}
