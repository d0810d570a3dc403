//! Cuts the PTX of the kernels into functions and compresses them, for `solver/cuda/ptx.rs`.
//!
//! `kernels/ptx` has a file per source file, with all variants (see `kernels/build.py`). Variants of the same
//! function resemble each other, so they are compressed together.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=kernels/ptx");
    #[cfg(feature = "cuda")]
    ptx::embed()?;
    Ok(())
}

#[cfg(feature = "cuda")]
mod ptx {
    use flate2::Compression;
    use flate2::read::GzDecoder;
    use flate2::write::ZlibEncoder;
    use std::collections::BTreeMap;
    use std::error::Error;
    use std::io::{Read, Write};
    use std::path::Path;
    use std::{env, fs};

    /// What a variant of a source file begins with.
    const VARIANT: &str = "// variant ";

    /// What a function begins with. What comes before the first belongs to all.
    const ENTRY: &str = ".visible .entry ";

    /// Writes the compressed text (`ptx.bin`) and a table of what is where (`ptx_table.rs`).
    pub fn embed() -> Result<(), Box<dyn Error>> {
        // By source file and function: its variants and their text.
        let mut functions: BTreeMap<(String, String), Vec<(String, String)>> = BTreeMap::new();
        for file in fs::read_dir("kernels/ptx")? {
            let path = file?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(kernel) = name.strip_suffix(".ptx.gz") else { continue };
            let mut text = String::new();
            GzDecoder::new(fs::File::open(&path)?).read_to_string(&mut text)?;
            for variant in text.split(VARIANT).skip(1) {
                let (variant, text) = variant.split_once('\n').ok_or("a variant has no name")?;
                let mut parts = text.split(ENTRY);
                let head = parts.next().unwrap_or_default();
                for part in parts {
                    let (function, _) = part.split_once('(').ok_or("a function has no name")?;
                    let key = (kernel.to_owned(), function.to_owned());
                    let text = [head, ENTRY, part].concat();
                    functions.entry(key).or_default().push((variant.to_owned(), text));
                }
            }
        }

        let mut binary = Vec::new();
        let mut table = String::from("&[\n");
        for ((kernel, function), variants) in functions {
            let begin = binary.len();
            let mut encoder = ZlibEncoder::new(&mut binary, Compression::best());
            for (_, text) in &variants {
                encoder.write_all(text.as_bytes())?;
            }
            encoder.finish()?;
            let stream = begin..binary.len();
            let mut end = 0;
            for (variant, text) in &variants {
                let text = end..end + text.len();
                end = text.end;
                table += &format!(
                    "Entry {{ kernel: {kernel:?}, function: {function:?}, variant: {variant:?}, \
                     stream: {stream:?}, text: {text:?} }},\n"
                );
            }
        }
        table += "]";

        let folder = env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?;
        fs::write(Path::new(&folder).join("ptx.bin"), binary)?;
        fs::write(Path::new(&folder).join("ptx_table.rs"), table)?;
        Ok(())
    }
}
