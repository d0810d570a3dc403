//! The files that a command is to write, checked before any work.

use super::console::UsageError;
use crate::files;
use std::path::Path;

/// A file that a command is to write.
pub(super) struct Output<'a> {
    /// The option that names it.
    pub option: &'static str,
    pub path: &'a Path,
    /// The endings that its name may have, without the dot; empty where the format checks them itself.
    pub endings: &'static [&'static str],
}

/// Refuses files that would replace an input or each other, names whose ending is that of another format,
/// and places that cannot be written. `inputs` are the files that are read, with what they are.
///
/// # Errors
/// [`UsageError`], or [`FileError`](files::FileError) for a place.
pub(super) fn check(outputs: &[Output<'_>], inputs: &[(&str, &Path)]) -> anyhow::Result<()> {
    for (index, output) in outputs.iter().enumerate() {
        let Output { option, path, endings } = output;
        check_ending(option, path, endings)?;
        files::check_place(path)?;
        let others = outputs[..index].iter().map(|other| (other.option, other.path));
        if let Some((other, _)) = others.chain(inputs.iter().copied()).find(|(_, other)| {
            // What cannot be replaced cannot be lost: a pipe, a terminal.
            files::is_replaced(path) && files::is_same(path, other)
        }) {
            let path = path.display();
            let why = format!("{option} {path} is also the file of {other}; name another file");
            return Err(UsageError(why).into());
        }
    }
    Ok(())
}

/// Refuses an ending without a name before it, such as `.png`: a system takes it for the name of a hidden file.
///
/// # Errors
/// [`UsageError`], which says how to write it.
pub(super) fn check_has_name(option: &str, path: &Path) -> Result<(), UsageError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !name.starts_with('.') || path.extension().is_some() {
        return Ok(());
    }
    let path = path.display();
    Err(UsageError(format!(
        "{option} is {path}, an ending without a name; write a name before it, such as figure{name}"
    )))
}

fn check_ending(option: &str, path: &Path, endings: &[&str]) -> Result<(), UsageError> {
    check_has_name(option, path)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_known = endings.iter().any(|known| ending.eq_ignore_ascii_case(known));
    if endings.is_empty() || is_known || !files::is_replaced(path) {
        return Ok(());
    }
    let known: Vec<_> = endings.iter().map(|known| format!(".{known}")).collect();
    let path = path.display();
    Err(UsageError(format!("{option} is {path}; its name must end in {}", known.join(" or "))))
}
