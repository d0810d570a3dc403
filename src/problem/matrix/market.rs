//! Matrix Market files (Boisvert, Pozo and Remington, *The Matrix Market Exchange Formats*, NISTIR 5935):
//! sparse matrices and vectors as text, plain or compressed by gzip.

use super::csr::{Csr, Entry, MatrixError};
use crate::files::{self, FileError, reason, write_atomically};
use crate::grid::memory;
use crate::number::{counted, grouped};
use flate2::CrcReader;
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// What a gzip file begins with.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The most bytes of a line that are read. The format allows 1024.
const LONGEST_LINE: u64 = 4096;

/// The most bytes of comments and empty lines that are skipped: a compressed file may hold any number.
const MOST_SKIPPED: u64 = 1 << 24;

/// Bytes that an entry takes while a matrix is read or generated: an [`Entry`] in a list that may have grown to twice its
/// length, sorted, and as a part of the matrix.
pub(super) const BYTES_OF_ENTRY: u64 = 2 * 16 + 16 + 12;

/// Bytes that a row takes while a matrix is read or generated: where it begins, three times.
pub(super) const BYTES_OF_ROW: u64 = 3 * 8;

/// Bytes that a value of a vector takes while a file is read: in a list that may have grown to twice its length, and
/// in its place.
const BYTES_OF_VALUE: u64 = 2 * 8 + 8;

/// Progress is reported every time this many entries were read.
const ENTRIES_OF_REPORT: u64 = 1 << 16;

/// Why a file is not a matrix, or not a vector.
#[derive(Debug, thiserror::Error)]
pub enum MarketError {
    /// It cannot be opened or read.
    #[error("{} cannot be read: {}", .path.display(), reason(.source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A line that is wrong.
    #[error("{}, line {line}: {reason}", .path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// It ends before its last entry.
    #[error("{} ends after {} of {} entries", .path.display(), grouped(*.found), grouped(*.promised))]
    Truncated {
        /// The file.
        path: PathBuf,
        /// Entries read.
        found: u64,
        /// Entries that its header names.
        promised: u64,
    },
    /// It needs more memory than there is.
    #[error("{} has {} entries, which need {}; {} is free", .path.display(), grouped(*.entries), memory::human(*.needed), memory::human(*.available))]
    Memory {
        /// The file.
        path: PathBuf,
        /// Entries that its header names.
        entries: u64,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        available: u64,
    },
    /// Its entries form no matrix that a system can be solved with.
    #[error("{}: {source}", .path.display())]
    Matrix {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: MatrixError,
    },
}

/// The checksum of a file (CRC-32, as in gzip files), by which a run notices that its matrix has changed.
///
/// Its text is `crc32:` and eight hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Checksum(u32);

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "crc32:{:08x}", self.0)
    }
}

impl From<Checksum> for String {
    fn from(checksum: Checksum) -> Self {
        checksum.to_string()
    }
}

impl TryFrom<String> for Checksum {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        let digits = text.strip_prefix("crc32:").filter(|digits| digits.len() == 8);
        let value = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        value.map(Self).ok_or_else(|| {
            format!("checksum is {text}; it must be crc32: and eight hexadecimal digits")
        })
    }
}

/// How the entries are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryField {
    Number,
    Pattern,
}

/// Reads a square matrix (`coordinate`; `real`, `integer` or `pattern`; `general` or `symmetric`).
/// `on_progress` gets the fraction that is read, 0 to 1.
///
/// Entries of a pattern are 1. One half of a symmetric matrix is stored; the other is added here.
///
/// # Errors
/// [`MarketError`] with the file, the line, and what is wrong there.
pub fn read_matrix(path: &Path, on_progress: &mut dyn FnMut(f64)) -> Result<Csr, MarketError> {
    let mut lines = Lines::open(path)?;
    let (field, is_symmetric) = lines.matrix_header()?;
    let (rows, promised) = lines.rows()?;
    let stored = if is_symmetric { promised.saturating_mul(2) } else { promised };
    let needed =
        stored.saturating_mul(BYTES_OF_ENTRY).saturating_add(rows.saturating_mul(BYTES_OF_ROW));
    lines.check_memory(promised, needed)?;
    let mut entries: Vec<Entry> = Vec::new();
    for read in 0..promised {
        if !lines.next()? {
            return Err(lines.truncated(read, promised));
        }
        let entry = entry(&lines.line, field, rows);
        let (row, column, value) =
            entry.map_err(|reason| lines.refuse_entry(reason, read, promised))?;
        entries.push((row, column, value));
        if is_symmetric && row != column {
            entries.push((column, row, value));
        }
        if read % ENTRIES_OF_REPORT == 0 {
            on_progress(read as f64 / promised as f64);
        }
    }
    lines.expect_end(promised)?;
    let matrix = Csr::from_entries(rows as usize, &entries);
    matrix.map_err(|source| MarketError::Matrix { path: path.to_owned(), source })
}

/// The rows of a matrix, from its header.
///
/// # Errors
/// [`MarketError`] if the header is wrong, or the matrix is not square.
pub fn read_rows(path: &Path) -> Result<usize, MarketError> {
    let mut lines = Lines::open(path)?;
    lines.matrix_header()?;
    lines.rows().map(|(rows, _)| rows as usize)
}

/// Reads a vector: an `array` with one column, of `rows` values.
///
/// # Errors
/// [`MarketError`] with the file, the line, and what is wrong there.
pub fn read_vector(path: &Path, rows: usize) -> Result<Vec<f64>, MarketError> {
    read_array(path, [rows, 1])
}

/// Reads an `array` with that many rows and columns, column after column.
///
/// # Errors
/// [`MarketError`] with the file, the line, and what is wrong there.
pub fn read_array(path: &Path, size: [usize; 2]) -> Result<Vec<f64>, MarketError> {
    let mut lines = Lines::open(path)?;
    lines.vector_header()?;
    let found = lines.sizes::<2>()?;
    if found != size.map(|count| count as u64) {
        let text = |[rows, columns]: [u64; 2]| {
            format!("{} and {}", counted(rows, "row"), counted(columns, "column"))
        };
        let needed = text(size.map(|count| count as u64));
        return Err(
            lines.refuse(format!("the array has {}; the matrix needs {needed}", text(found)))
        );
    }
    let found = found[0].saturating_mul(found[1]);
    lines.check_memory(found, found.saturating_mul(BYTES_OF_VALUE))?;
    let mut values = Vec::new();
    for read in 0..found {
        if !lines.next()? {
            return Err(lines.truncated(read, found));
        }
        let value = number(words(&lines.line).next());
        let value = value.map_err(|reason| lines.refuse_entry(reason, read, found))?;
        if !value.is_finite() {
            return Err(lines.refuse(format!("value {} is {value}; it must be finite", read + 1)));
        }
        values.push(value);
    }
    lines.expect_end(found)?;
    Ok(values)
}

/// Whether a file begins like a Matrix Market file, compressed or not.
pub fn is_market(path: &Path) -> bool {
    Lines::open(path).is_ok_and(|mut lines| lines.banner().is_ok())
}

/// The checksum of a file, whatever is in it.
///
/// # Errors
/// The error of the system.
pub fn checksum(path: &Path) -> io::Result<Checksum> {
    let mut file = CrcReader::new(files::open(path)?);
    io::copy(&mut file, &mut io::sink())?;
    Ok(Checksum(file.crc().sum()))
}

/// Saves a matrix as a Matrix Market file, every value with all its digits.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_matrix(path: &Path, matrix: &Csr) -> Result<(), FileError> {
    write_atomically(path, |out| {
        writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
        writeln!(out, "{0} {0} {1}", matrix.rows(), matrix.entries())?;
        for row in 0..matrix.rows() {
            for (column, value) in matrix.columns(row).iter().zip(matrix.values(row)) {
                writeln!(out, "{} {} {value:?}", row + 1, column + 1)?;
            }
        }
        Ok(())
    })
}

/// The entry of a line: its row and its column from 0, and its value.
fn entry(line: &[u8], field: EntryField, rows: u64) -> Result<Entry, String> {
    let mut words = words(line);
    let row = index(words.next(), "row", rows)?;
    let column = index(words.next(), "column", rows)?;
    let value = match field {
        EntryField::Pattern => 1.0,
        EntryField::Number => number(words.next())?,
    };
    if let Some(rest) = words.next() {
        return Err(format!("there is more than an entry: {}", shown(rest)));
    }
    if !value.is_finite() {
        return Err(format!(
            "the entry at row {}, column {} is {value}; entries must be finite numbers",
            row + 1,
            column + 1
        ));
    }
    Ok((row, column, value))
}

/// The words of a line. Millions of lines are read: they are not checked for being text.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// A word in a sentence.
fn shown(word: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(word)
}

/// A row or a column from 0, of a number from 1 to `count`.
fn index(word: Option<&[u8]>, name: &str, count: u64) -> Result<u32, String> {
    let word = word.ok_or_else(|| format!("the {name} is missing"))?;
    let index: u64 = text(word)
        .and_then(|text| text.parse().ok())
        .ok_or_else(|| format!("{name} {} is not a whole number from 1 to {count}", shown(word)))?;
    if (1..=count).contains(&index) {
        return Ok((index - 1) as u32);
    }
    Err(format!("{name} {index} is outside the matrix; it must be 1 to {count}"))
}

fn number(word: Option<&[u8]>) -> Result<f64, String> {
    let word = word.ok_or_else(|| "the value is missing".to_owned())?;
    let value = text(word).and_then(|text| text.parse().ok());
    value.ok_or_else(|| format!("value {} is not a number", shown(word)))
}

fn text(word: &[u8]) -> Option<&str> {
    std::str::from_utf8(word).ok()
}

/// An error of a compressed file, without the words of the library for what only its format explains.
fn of_compressed(error: io::Error) -> io::Error {
    match error.kind() {
        kind @ (io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData) => {
            io::Error::new(kind, "its compression (gzip) is damaged")
        }
        _ => error,
    }
}

/// The lines of a file, one at a time.
struct Lines {
    path: PathBuf,
    file: Box<dyn BufRead>,
    is_compressed: bool,
    /// The present line and its number, from 1.
    line: Vec<u8>,
    number: u64,
    skipped: u64,
}

impl Lines {
    fn open(path: &Path) -> Result<Self, MarketError> {
        let read = |source| MarketError::Read { path: path.to_owned(), source };
        let mut file = BufReader::with_capacity(1 << 16, files::open(path).map_err(read)?);
        let is_compressed = file.fill_buf().map_err(read)?.starts_with(&GZIP);
        let file: Box<dyn BufRead> = if is_compressed {
            Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(file)))
        } else {
            Box::new(file)
        };
        let (path, line) = (path.to_owned(), Vec::new());
        Ok(Self { path, file, is_compressed, line, number: 0, skipped: 0 })
    }

    fn refuse(&self, reason: impl Into<String>) -> MarketError {
        let (path, line) = (self.path.clone(), self.number.max(1));
        MarketError::Line { path, line, reason: reason.into() }
    }

    /// The error of an entry that cannot be read, perhaps because the file ends within its line.
    fn refuse_entry(&self, reason: String, found: u64, promised: u64) -> MarketError {
        if self.line.ends_with(b"\n") {
            return self.refuse(reason);
        }
        let [found, promised] = [found, promised].map(grouped);
        self.refuse(format!("{reason}; the file ends here, after {found} of {promised} entries"))
    }

    fn truncated(&self, found: u64, promised: u64) -> MarketError {
        MarketError::Truncated { path: self.path.clone(), found, promised }
    }

    /// Reads a line as it is; `false` at the end of the file.
    fn read(&mut self) -> Result<bool, MarketError> {
        self.line.clear();
        self.number += 1;
        let read = self.file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut self.line);
        match read {
            Ok(0) => Ok(false),
            Ok(length) if length as u64 == LONGEST_LINE && !self.line.ends_with(b"\n") => {
                Err(self.refuse(format!("the line is longer than {LONGEST_LINE} bytes")))
            }
            Ok(_) => Ok(true),
            Err(source) => {
                let source = if self.is_compressed { of_compressed(source) } else { source };
                Err(MarketError::Read { path: self.path.clone(), source })
            }
        }
    }

    /// Goes on to the next line that is neither empty nor a comment; `false` at the end of the file.
    fn next(&mut self) -> Result<bool, MarketError> {
        while self.read()? {
            let text = self.line.trim_ascii();
            if !text.is_empty() && !text.starts_with(b"%") {
                return Ok(true);
            }
            self.skipped += self.line.len() as u64;
            if self.skipped > MOST_SKIPPED {
                return Err(self.refuse("there are too many comments and empty lines"));
            }
        }
        Ok(false)
    }

    /// The words of a line of the header.
    fn words(&self) -> Result<std::str::SplitAsciiWhitespace<'_>, MarketError> {
        let text = text(&self.line).ok_or_else(|| self.refuse("the line is not text"))?;
        Ok(text.split_ascii_whitespace())
    }

    /// The words after `%%MatrixMarket matrix`, in lower case.
    fn banner(&mut self) -> Result<Vec<String>, MarketError> {
        self.read()?;
        let words: Vec<_> = self.words()?.map(str::to_ascii_lowercase).collect();
        match words.as_slice() {
            [first, object, rest @ ..] if first == "%%matrixmarket" && object == "matrix" => {
                Ok(rest.to_vec())
            }
            _ => Err(self.refuse("a Matrix Market file begins with %%MatrixMarket matrix")),
        }
    }

    /// How entries are written, and whether the matrix is symmetric.
    fn matrix_header(&mut self) -> Result<(EntryField, bool), MarketError> {
        let words = self.banner()?;
        let [format, field, symmetry] = words.as_slice() else {
            return Err(self.refuse("the header must name format, field and symmetry"));
        };
        if format != "coordinate" {
            return Err(self.refuse(format!("format {format}; a matrix must be coordinate")));
        }
        let field = match field.as_str() {
            "real" | "integer" => EntryField::Number,
            "pattern" => EntryField::Pattern,
            _ => {
                let allowed = "it must be real, integer or pattern";
                return Err(self.refuse(format!("field {field}; {allowed}")));
            }
        };
        match symmetry.as_str() {
            "general" => Ok((field, false)),
            "symmetric" => Ok((field, true)),
            _ => {
                let allowed = "it must be general or symmetric";
                Err(self.refuse(format!("symmetry {symmetry}; {allowed}")))
            }
        }
    }

    fn vector_header(&mut self) -> Result<(), MarketError> {
        let words = self.banner()?;
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["array", "real" | "integer", "general"] => Ok(()),
            _ => Err(self.refuse("a vector must be array, real or integer, general")),
        }
    }

    fn sizes<const COUNT: usize>(&mut self) -> Result<[u64; COUNT], MarketError> {
        if !self.next()? {
            return Err(self.refuse("the line of sizes is missing"));
        }
        let sizes: Result<Vec<u64>, _> = self.words()?.map(str::parse).collect();
        let sizes = sizes.ok().and_then(|sizes| <[u64; COUNT]>::try_from(sizes).ok());
        sizes.ok_or_else(|| self.refuse(format!("the line of sizes must be {COUNT} whole numbers")))
    }

    /// The rows of a square matrix, and its entries.
    fn rows(&mut self) -> Result<(u64, u64), MarketError> {
        let [rows, columns, entries] = self.sizes::<3>()?;
        if rows != columns {
            let [rows, columns] = [counted(rows, "row"), counted(columns, "column")];
            return Err(
                self.refuse(format!("the matrix has {rows} and {columns}; it must be square"))
            );
        }
        if rows > u64::from(u32::MAX) {
            let source = MatrixError::TooManyRows { rows };
            return Err(MarketError::Matrix { path: self.path.clone(), source });
        }
        Ok((rows, entries))
    }

    fn check_memory(&self, entries: u64, needed: u64) -> Result<(), MarketError> {
        let available = memory::available();
        if needed <= available {
            return Ok(());
        }
        Err(MarketError::Memory { path: self.path.clone(), entries, needed, available })
    }

    fn expect_end(&mut self, promised: u64) -> Result<(), MarketError> {
        if self.next()? {
            let promised = grouped(promised);
            return Err(
                self.refuse(format!("there are more entries than the {promised} of the header"))
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;

    fn read(text: &[u8]) -> Result<Csr, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        std::fs::write(&path, text).unwrap();
        let short = |error: MarketError| error.to_string().replace(path.to_str().unwrap(), "a.mtx");
        read_matrix(&path, &mut |_| {}).map_err(short)
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    const SMALL: &str = "%%MatrixMarket matrix coordinate real general\n% a comment\n\n2 2 4\n\
                         2 2 4.5\n1 1 2\n1 2 -1e-3\n1 2 1\n";

    #[test]
    fn entries_are_sorted_and_duplicates_added() {
        let matrix = read(SMALL.as_bytes()).unwrap();
        assert_eq!((matrix.rows(), matrix.entries()), (2, 3));
        assert_eq!([matrix.at(0, 0), matrix.at(0, 1), matrix.at(1, 1)], [2.0, -1e-3 + 1.0, 4.5]);
        assert_eq!(read(&gzip(SMALL.as_bytes())), Ok(matrix));
    }

    #[test]
    fn halves_and_patterns_are_completed() {
        let text =
            b"%%MatrixMarket MATRIX Coordinate Pattern Symmetric\n3 3 4\n1 1\n2 2\n3 3\n3 1\n";
        let matrix = read(text).unwrap();
        assert_eq!((matrix.at(0, 2), matrix.at(2, 0), matrix.entries()), (1.0, 1.0, 5));
    }

    #[test]
    fn a_matrix_survives_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        let entries = [(0, 0, 1.0 / 3.0), (1, 1, -5e-324), (0, 1, 1e300)];
        let matrix = Csr::from_entries(2, &entries).unwrap();
        save_matrix(&path, &matrix).unwrap();
        assert_eq!(read_matrix(&path, &mut |_| {}).unwrap(), matrix);
        assert!(is_market(&path));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        let header = "%%MatrixMarket matrix coordinate real general\n";
        let with = |rest: &str| format!("{header}{rest}");
        for (text, sentence) in [
            (String::new(), "line 1: a Matrix Market file begins with"),
            ("hello\n".to_owned(), "line 1: a Matrix Market file begins with"),
            (header.replace("real", "complex"), "line 1: field complex; it must be real"),
            (header.replace("general", "hermitian"), "line 1: symmetry hermitian"),
            (header.replace("general", "skew-symmetric"), "line 1: symmetry skew-symmetric"),
            (header.replace("coordinate", "array"), "line 1: format array"),
            (with(""), "line 2: the line of sizes is missing"),
            (with("2 2\n"), "line 2: the line of sizes must be 3 whole numbers"),
            (with("2 3 1\n"), "line 2: the matrix has 2 rows and 3 columns; it must be square"),
            (with("2 2 2\n1 1 1\n"), "a.mtx ends after 1 of 2 entries"),
            (
                with("1 1 1\n1 1 1\n1 1 1\n"),
                "line 4: there are more entries than the 1 of the header",
            ),
            (with("2 2 2\n0 1 1\n"), "line 3: row 0 is outside the matrix; it must be 1 to 2"),
            (with("2 2 2\n1 3 1\n"), "line 3: column 3 is outside"),
            (
                with("2 2 2\n1 1 2\n2 2 -"),
                "line 4: value - is not a number; the file ends here, after 1 of 2",
            ),
            (
                with("2 2 2\n1 1 2\n2"),
                "line 4: the column is missing; the file ends here, after 1 of 2",
            ),
            (with("2 2 2\n-1 1 1\n"), "line 3: row -1 is not a whole number from 1 to 2"),
            (with("2 2 2\n1 1 x\n"), "line 3: value x is not a number"),
            (with("2 2 2\n1 1\n"), "line 3: the value is missing"),
            (with("2 2 2\n1 1 1 1\n"), "line 3: there is more than an entry"),
            (with("2 2 2\n1 1 nan\n"), "line 3: the entry at row 1, column 1 is NaN"),
            (with("2 2 1\n1 1 1\n"), "a.mtx: row 2 has no diagonal entry"),
            (with("2 2 2\n1 1 1\n2 2 0\n"), "a.mtx: row 2 has no diagonal entry"),
            (with("0 0 0\n"), "a.mtx: the matrix has no rows"),
            (
                with("9 9 1000000000000\n"),
                "a.mtx has 1,000,000,000,000 entries, which need 60.0 TB",
            ),
            (with("5000000000 5000000000 1\n"), "the matrix has 5000000000 rows"),
            (with(&"9".repeat(5000)), "line 2: the line is longer than 4096 bytes"),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert!(error.contains(sentence), "{error}\n{sentence}");
        }
        assert!(read(b"%%MatrixMarket matrix coordinate real general\n\xff").is_err());
        assert!(read(&gzip(SMALL.as_bytes())[..40]).is_err());
        let (mut wrong_header, mut wrong_sum) = (gzip(SMALL.as_bytes()), gzip(SMALL.as_bytes()));
        wrong_header[2] = 9;
        let sum = wrong_sum.len() - 8;
        wrong_sum[sum] ^= 1;
        for damaged in [wrong_header, wrong_sum] {
            let said = read(&damaged).unwrap_err().to_string();
            assert!(said.ends_with("its compression (gzip) is damaged"), "{said}");
        }
    }

    #[test]
    fn a_compressed_file_that_bursts_is_refused() {
        let mut text = b"%%MatrixMarket matrix coordinate real general\n".to_vec();
        text.resize(MOST_SKIPPED as usize + (1 << 16), b'\n');
        let error = read(&gzip(&text)).unwrap_err();
        assert!(error.contains("too many comments and empty lines"), "{error}");
    }

    #[test]
    fn a_vector_has_a_value_a_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.mtx");
        std::fs::write(&path, "%%MatrixMarket matrix array real general\n2 1\n1.5\n-2\n").unwrap();
        assert_eq!(read_vector(&path, 2).unwrap(), [1.5, -2.0]);
        let error = read_vector(&path, 3).unwrap_err().to_string();
        assert!(error.contains("the matrix needs 3 rows and 1 column"), "{error}");
    }
}
