//! Where the library of NCCL may lie: where the linker looks, and in the packages of a Python.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the library on Linux, the only system that it is made for.
const NAME: &str = "libnccl.so.2";

/// Its folder among the packages of a Python (the packages `nvidia-nccl-cu12` and `nvidia-nccl-cu13` on PyPI).
const IN_PACKAGES: &str = "nvidia/nccl/lib";

/// The variable that names its file, and nothing else is tried then.
pub(super) const VARIABLE: &str = "TILESCOPE_NCCL";

/// The files to try, in this order; `variable` reads a variable of the environment.
pub(super) fn candidates(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    if let Some(named) = variable(VARIABLE) {
        return vec![named.into()];
    }
    let environments =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].map(|name| variable(name).map(PathBuf::from));
    let path = variable("PATH").unwrap_or_default();
    let mut roots: Vec<_> = environments.into_iter().flatten().collect();
    roots.extend(python_roots(&path));
    // Packages of a user, of any Python.
    roots.extend(variable("HOME").map(|home| Path::new(&home).join(".local")));
    let mut found = vec![PathBuf::from(NAME)];
    for file in roots.iter().flat_map(|root| in_packages_of(root)) {
        if !found.contains(&file) {
            found.push(file);
        }
    }
    found
}

/// The folders that hold `lib` of the Pythons in PATH: those in which `bin` lies, also behind symbolic links.
fn python_roots(path: &OsString) -> Vec<PathBuf> {
    let mut roots = Vec::new();
    for program in std::env::split_paths(path)
        .flat_map(|folder| ["python3", "python"].map(|name| folder.join(name)))
    {
        let Ok(behind) = program.canonicalize() else { continue };
        for program in [program, behind] {
            roots.extend(program.parent().and_then(Path::parent).map(Path::to_owned));
        }
    }
    // A Python of the system has what is installed beside its own packages there, and pyenv several Pythons below its own
    // folder.
    if roots.iter().any(|root| root == Path::new("/usr")) {
        roots.push("/usr/local".into());
    }
    let versions = roots.iter().filter_map(|root| fs::read_dir(root.join("versions")).ok());
    let versions: Vec<_> = versions.flatten().flatten().map(|entry| entry.path()).collect();
    roots.extend(versions);
    roots
}

/// The files of the library that the packages below a folder have.
fn in_packages_of(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for lib in ["lib", "lib64"] {
        let Ok(entries) = fs::read_dir(root.join(lib)) else { continue };
        let mut pythons: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
        pythons.retain(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python3"))
        });
        pythons.sort();
        for packages in ["site-packages", "dist-packages"] {
            let files =
                pythons.iter().map(|python| python.join(packages).join(IN_PACKAGES).join(NAME));
            found.extend(files.filter(|file| file.is_file()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn install(root: &Path) -> PathBuf {
        let folder = root.join("lib/python3.12/site-packages").join(IN_PACKAGES);
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join(NAME);
        fs::write(&file, "").unwrap();
        file
    }

    #[test]
    fn the_linker_comes_before_the_packages_of_a_python_and_a_named_file_before_both() {
        let folder = tempfile::tempdir().unwrap();
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        let (in_one, in_other) = (install(&one), install(&other));
        fs::create_dir(other.join("bin")).unwrap();
        fs::write(other.join("bin/python3"), "").unwrap();
        let variables = |name: &str| match name {
            "VIRTUAL_ENV" => Some(one.clone().into()),
            "PATH" => Some(other.join("bin").into()),
            _ => None,
        };
        let found = candidates(variables);
        assert_eq!(found[..2], [PathBuf::from(NAME), in_one]);
        assert!(found.contains(&in_other), "{found:?}");
        let named =
            candidates(|name| if name == VARIABLE { Some("a.so".into()) } else { variables(name) });
        assert_eq!(named, [PathBuf::from("a.so")]);
        assert_eq!(candidates(|_| None), [PathBuf::from(NAME)]);
    }
}
