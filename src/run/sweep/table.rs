//! The table of a sweep: a CSV file to which rows are appended one by one, so that it holds complete rows
//! whenever the program ends. One process writes it at a time.

use super::outline::RowMismatch;
use super::row::SweepRow;
use super::row_check::check_fields;
use crate::files::{FileError, is_named_pipe, lock, open_to_append, reason, write_atomically};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A table that rows are appended to.
#[derive(Debug)]
pub struct SweepTable {
    path: PathBuf,
    /// Locked while the table is written.
    file: File,
    /// Bytes of complete rows.
    length: u64,
}

/// Why a table cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SweepTableError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file exists and is not empty.
    #[error("{} already exists; continue it with --resume, or name another file", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Rows cannot be kept in it.
    #[error("{} is a pipe, which keeps no rows; name a file", .path.display())]
    Pipe {
        /// The pipe.
        path: PathBuf,
    },
    /// Another process writes it.
    #[error("{} is being written by {by}; wait for it, or name another file", .path.display())]
    InUse {
        /// The file.
        path: PathBuf,
        /// Which process.
        by: String,
    },
    /// It is not the table of a sweep.
    #[error("{} cannot be resumed: {what}", .path.display())]
    NoTable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, as part of a sentence.
        what: String,
    },
    /// It is the table of another sweep, or of another machine.
    #[error("{} cannot be resumed: {why}", .path.display())]
    RowMismatch {
        /// The file.
        path: PathBuf,
        /// Which row does not belong to the sweep, and why.
        why: RowMismatch,
    },
}

impl Drop for SweepTable {
    /// A process that is being started may still share the file, and with it the lock.
    fn drop(&mut self) {
        // A file system without locks has none to release.
        _ = self.file.unlock();
    }
}

impl SweepTable {
    /// Writes a whole table in place of a file that may exist.
    ///
    /// # Errors
    /// [`FileError`] if it cannot be written.
    pub fn save(path: &Path, rows: &[SweepRow]) -> Result<(), FileError> {
        let text = lines(rows).map_err(|cause| write_error(path, cause))?;
        write_atomically(path, |out| out.write_all(&text))
    }

    /// A new table.
    ///
    /// # Errors
    /// [`SweepTableError::Exists`] if the file is not empty: it would be lost.
    pub fn create(path: &Path) -> Result<Self, SweepTableError> {
        let (file, text) = open(path)?;
        if !text.is_empty() {
            return Err(SweepTableError::Exists { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), file, length: 0 })
    }

    /// The table of an earlier sweep, to append to, and its rows. An incomplete last row, left by a program
    /// that ended while it wrote, is removed; a table that another program has saved, with its own line
    /// ends or quotes, is rewritten. A missing file is a new table. `accept` checks the rows before the
    /// file is changed.
    ///
    /// # Errors
    /// [`SweepTableError`] if it is not the table of a sweep, or `accept` fails; the file is unchanged then.
    pub fn resume(
        path: &Path,
        accept: impl FnOnce(&[SweepRow]) -> Result<(), RowMismatch>,
    ) -> Result<(Self, Vec<SweepRow>), SweepTableError> {
        let (mut file, text) = open(path)?;
        let rows =
            read(&text).map_err(|what| SweepTableError::NoTable { path: path.to_owned(), what })?;
        accept(&rows).map_err(|why| SweepTableError::RowMismatch { path: path.to_owned(), why })?;
        // A heading alone may be that of other columns; the first row brings its own.
        let as_written = lines(&rows).map_err(|cause| not_writable(path, cause))?;
        if !text.starts_with(&as_written) {
            write_atomically(path, |out| out.write_all(&as_written))?;
            // Another file has the name now.
            file = open(path)?.0;
        } else if as_written.len() < text.len() {
            file.set_len(as_written.len() as u64).map_err(|cause| not_writable(path, cause))?;
        }
        let length = as_written.len() as u64;
        Ok((Self { path: path.to_owned(), file, length }, rows))
    }

    /// Appends a row and waits until it is on the disk; measuring a row takes far longer.
    ///
    /// # Errors
    /// [`FileError::Write`] if the system reports an error; the rows before it remain.
    pub fn push(&mut self, row: &SweepRow) -> Result<(), FileError> {
        let line = line(row, self.length == 0).map_err(|cause| write_error(&self.path, cause))?;
        // In one write, so that an incomplete row can only come from a crash of the system.
        let written = self.file.write_all(&line).and_then(|()| match self.file.sync_data() {
            // A pipe or a device cannot be synchronized.
            Err(cause) if cause.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        });
        if let Err(cause) = written {
            // What was written of it is not a complete row.
            _ = self.file.set_len(self.length);
            return Err(write_error(&self.path, cause));
        }
        self.length += line.len() as u64;
        Ok(())
    }
}

/// The column of threads.
const THREADS: &str = "threads";

/// Columns that tables of earlier versions lack.
const ADDED_LATER: [&str; 2] = [THREADS, "error_left"];

/// Opens a file for appending, locks it, and reads its contents.
fn open(path: &Path) -> Result<(File, Vec<u8>), SweepTableError> {
    if is_named_pipe(path) {
        return Err(SweepTableError::Pipe { path: path.to_owned() });
    }
    let mut file = open_to_append(path).map_err(|cause| not_writable(path, cause))?;
    lock(&file).map_err(|by| SweepTableError::InUse { path: path.to_owned(), by })?;
    let mut text = Vec::new();
    // A device or a pipe has no contents to read.
    if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        file.read_to_end(&mut text).map_err(|cause| FileError::read(path, cause))?;
    }
    Ok((file, text))
}

fn write_error(path: &Path, cause: io::Error) -> FileError {
    FileError::Write { path: path.to_owned(), cause }
}

fn not_writable(path: &Path, cause: io::Error) -> SweepTableError {
    write_error(path, cause).into()
}

/// A row as text, preceded by the header if it is the first.
fn line(row: &SweepRow, with_header: bool) -> io::Result<Vec<u8>> {
    let mut writer = csv::WriterBuilder::new().has_headers(with_header).from_writer(Vec::new());
    writer.serialize(row)?;
    writer.into_inner().map_err(|error| io::Error::other(reason(error.error())))
}

/// A whole table as text.
fn lines(rows: &[SweepRow]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        text.extend(line(row, place == 0)?);
    }
    Ok(text)
}

/// The complete rows of a table.
fn read(text: &[u8]) -> Result<Vec<SweepRow>, String> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text);
    let broken = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        match error.kind() {
            csv::ErrorKind::Utf8 { .. } => format!("line {line} is not text (UTF-8)"),
            _ => "it is not a table".to_owned(),
        }
    };
    let header = reader.headers().map_err(broken)?.clone();
    let ends_complete = text.ends_with(b"\n");
    let mut rows = Vec::new();
    check_header(text, &header, ends_complete)?;
    let lacks_threads = !header.iter().any(|name| name == THREADS);
    // Bytes, because a row may be cut off within a character.
    let mut record = csv::ByteRecord::new();
    loop {
        let more = reader.read_byte_record(&mut record).map_err(broken)?;
        if !more {
            return Ok(rows);
        }
        let end = reader.position().byte() as usize;
        let is_last = end >= text.len();
        // A row that was cut off lacks fields, or only its end; it has none too many.
        let longest = if ends_complete { header.len() - 1 } else { header.len() };
        if is_last && record.len() <= longest {
            return Ok(rows);
        }
        let start = record.position().map_or(0, |position| position.byte() as usize);
        let refused =
            |why: String| format!("line {} is not a row of a sweep: {why}", line_of(text, start));
        check_fields(&record, &header).map_err(refused)?;
        let row = record
            .deserialize(Some(header.as_byte_record()))
            .map_err(|_| refused("a column has a value that is not allowed".to_owned()))?;
        rows.push(if lacks_threads { with_threads(row) } else { row });
    }
}

/// The line of a table that begins at a byte, or just before it: the reader counts "\r" as the end of a line, and "\n" after it
/// as a part of the next.
fn line_of(text: &[u8], start: usize) -> usize {
    let start = if text.get(start) == Some(&b'\n') { start + 1 } else { start };
    let before = &text[..start.min(text.len())];
    let is_end = |at: &usize| match before[*at] {
        b'\n' => true,
        byte => byte == b'\r' && before.get(at + 1) != Some(&b'\n'),
    };
    1 + (0..before.len()).filter(is_end).count()
}

/// A row of a table without a column of threads: they are in its command line, unless there is one per core.
fn with_threads(row: SweepRow) -> SweepRow {
    let mut words = row.command.split(' ').skip_while(|word| *word != "--threads").skip(1);
    let threads = words.next().and_then(|threads| threads.parse().ok()).unwrap_or(0);
    SweepRow { threads, ..row }
}

/// Checks the first line of a table; the program may have ended while it wrote it.
fn check_header(
    text: &[u8],
    header: &csv::StringRecord,
    ends_complete: bool,
) -> Result<(), String> {
    let only_line = !text.contains(&b'\n');
    let begins = |known: Vec<&str>| header_line(&known).starts_with(text);
    if only_line
        && !ends_complete
        && (begins(SweepRow::NAMES.to_vec()) || begins(SweepRow::names_of_passes().collect()))
    {
        return Ok(());
    }
    let has =
        |name: &&str| !ADDED_LATER.contains(name) || header.iter().any(|known| known == *name);
    let is_known = header.iter().eq(SweepRow::NAMES.into_iter().filter(has))
        || header.iter().eq(SweepRow::names_of_passes().filter(has));
    if is_known { Ok(()) } else { Err(wrong_header(header)) }
}

/// What is wrong with a header that is not the one of this version, as part of a sentence.
fn wrong_header(header: &csv::StringRecord) -> String {
    let has = |name: &str| header.iter().any(|known| known == name);
    let names: Vec<_> = match has("memory") {
        true => SweepRow::names_of_passes().collect(),
        false => SweepRow::NAMES.to_vec(),
    };
    // Columns of the sweep tables of all versions, and of no other table of this program.
    let of_cycle = if has("memory") { "height" } else { "overlap" };
    if !["shape", of_cycle, "command"].into_iter().all(has) {
        return "it is not the table of a sweep".to_owned();
    }
    let named = |what: &str, names: &[&str]| match names {
        [] => None,
        [name] => Some(format!("{what} the column {name}")),
        names => Some(format!("{what} the columns {}", names.join(", "))),
    };
    let is_lacking = |name: &&str| !has(name) && !ADDED_LATER.contains(name);
    let lacks: Vec<_> = names.iter().copied().filter(is_lacking).collect();
    let others: Vec<_> = header.iter().filter(|name| !names.contains(name)).collect();
    let parts: Vec<_> = [named("lacks", &lacks), named("has beside its own", &others)]
        .into_iter()
        .flatten()
        .collect();
    let what = match &parts[..] {
        [] => "has the columns in another order, or twice".to_owned(),
        parts => parts.join(" and "),
    };
    format!(
        "its first line {what}; it was edited, or made by another version: name another file with -o"
    )
}

/// The first line of a table with these columns.
fn header_line(names: &[&str]) -> Vec<u8> {
    (names.join(",") + "\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::super::{Cycles, PerAxis, RowOutcome};
    use super::*;
    use crate::grid::ByteCount;
    use crate::solver::Subiterations;
    use proptest::prelude::*;

    prop_compose! {
        fn row()(
            k in 1..4000_usize,
            overlap in 0..100_usize,
            cycles in proptest::option::of((any::<u64>(), any::<bool>())),
            seconds in proptest::option::of(1e-9..1e9_f64),
            outcome in proptest::sample::select(&[
                RowOutcome::Measured, RowOutcome::Capped, RowOutcome::Diverged, RowOutcome::CannotRun,
            ]),
            reason in proptest::option::of("[a-z ,\"\n≥]{1,20}"),
            command in "tilescope solve [a-z ,\"'\n-]{0,20}",
        ) -> SweepRow {
            SweepRow {
                shape: "24x20".into(),
                k: Some(k.into()),
                overlap: Some(PerAxis::all(overlap)),
                tile: Some("8x4".parse().unwrap()),
                height: None,
                memory: None,
                kernel: "auto".into(),
                threads: 3,
                cycles: cycles.map(|(count, capped)| Cycles { count, capped }),
                sweeps: cycles.map(|(count, _)| count),
                // Others took no time to the tolerance.
                seconds: seconds.filter(|_| outcome == RowOutcome::Measured),
                seconds_per_cycle: seconds,
                seconds_per_cycle_error: seconds,
                repeats: seconds.map(|_| 9),
                predicted_seconds_per_cycle: seconds,
                prediction_error: seconds.map(|seconds| -seconds),
                predicted_cycles: seconds,
                predicted_cycles_bar: seconds,
                cycles_prediction_error: seconds,
                predicted_seconds: seconds,
                seconds_prediction_error: seconds,
                edge_share: seconds,
                error_left: seconds,
                outcome,
                reason,
                measured: "time+cycles".into(),
                machine: "a machine, 2 cores".into(),
                version: "0.1.0".into(),
                command,
            }
        }
    }

    /// The same row with the height and the budget of a pass in the place of tiles.
    fn of_pass(row: SweepRow) -> SweepRow {
        let height = row.k.and_then(Subiterations::finite);
        let memory = Some(ByteCount::new(4_000_000));
        SweepRow { k: None, overlap: None, tile: None, height, memory, ..row }
    }

    fn table(rows: &[SweepRow]) -> Vec<u8> {
        let lines = rows.iter().enumerate().map(|(i, row)| line(row, i == 0).unwrap());
        lines.flatten().collect()
    }

    /// With any line ends, and where the reader takes the second half of one for the beginning of a row.
    #[test]
    fn lines_are_counted_as_an_editor_counts_them() {
        for text in ["a\nb\nc\n", "a\r\nb\r\nc\r\n", "a\rb\rc\r"] {
            let at = text.find('c').unwrap();
            assert_eq!(line_of(text.as_bytes(), at), 3, "{text:?}");
            assert_eq!(line_of(text.as_bytes(), 0), 1);
        }
        assert_eq!(line_of(b"a\r\nb\r\nc\r\n", 5), 3);
    }

    proptest! {
        /// Wherever a table is cut off, its complete rows are read, and appending the others gives the uncut
        /// table.
        #[test]
        fn a_table_is_resumed_from_wherever_it_was_cut(
            rows in prop::collection::vec(row(), 1..5),
            at in any::<prop::sample::Index>(),
            of_passes in any::<bool>(),
        ) {
            let rows: Vec<_> = rows.into_iter().map(|row| if of_passes { of_pass(row) } else { row }).collect();
            let text = table(&rows);
            let names = match of_passes {
                true => SweepRow::names_of_passes().collect(),
                false => SweepRow::NAMES.to_vec(),
            };
            prop_assert!(text.starts_with(&header_line(&names)));
            let cut = at.index(text.len() + 1);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sweep.csv");
            std::fs::write(&path, &text[..cut]).unwrap();
            let (mut table, known) = SweepTable::resume(&path, |_| Ok(())).unwrap();
            prop_assert_eq!(&known[..], &rows[..known.len()]);
            for row in &rows[known.len()..] {
                table.push(row).unwrap();
            }
            prop_assert_eq!(std::fs::read(&path).unwrap(), text);
        }

        /// Line ends, quotes and byte order marks of other programs are repaired.
        #[test]
        fn a_table_that_another_program_saved_is_mended(
            rows in prop::collection::vec(row(), 3..4), which in 0..4_usize
        ) {
            let plain = |row: SweepRow| SweepRow { reason: None, command: "run".into(), ..row };
            let rows: Vec<_> = rows.into_iter().map(plain).collect();
            let text = String::from_utf8(table(&rows[..2])).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sweep.csv");
            let quoted = text.replace("24x20", "\"24x20\"");
            let (mark, crlf) = (format!("\u{feff}{text}"), text.replace('\n', "\r\n"));
            let saved = [crlf.clone(), crlf + "24x20,4", mark, quoted];
            std::fs::write(&path, &saved[which]).unwrap();
            let (mut resumed, known) = SweepTable::resume(&path, |_| Ok(())).unwrap();
            prop_assert_eq!(&known[..], &rows[..2]);
            resumed.push(&rows[2]).unwrap();
            prop_assert_eq!(std::fs::read(&path).unwrap(), table(&rows));
        }

        /// Arbitrary bytes cause no panic, and a file that is not a table is left unchanged.
        #[test]
        fn a_file_that_is_not_a_table_is_left_unchanged(text in prop::collection::vec(any::<u8>(), 1..200)) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("sweep.csv");
            std::fs::write(&path, &text).unwrap();
            if SweepTable::resume(&path, |_| Ok(())).is_err() {
                prop_assert_eq!(std::fs::read(&path).unwrap(), text);
            }
        }
    }

    /// A table without the columns that were added later is read, and written again with them.
    #[test]
    fn a_table_of_an_earlier_version_is_resumed() {
        let others = "24x20,4,0,8,tiled,7,28,,,,,,,,,,,,,measured,,cycles,\"a machine, 2 cores\"";
        let was_there = |name: &&str| !ADDED_LATER.contains(name);
        let header: Vec<_> = SweepRow::NAMES.into_iter().filter(was_there).collect();
        let rows = [("tilescope solve --threads 3 --k 4", 3), ("tilescope solve --k 4", 0)];
        let older: String = rows.iter().map(|(run, _)| format!("{others},{run},0.1.0\n")).collect();
        let older = format!("{}\n{older}", header.join(","));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sweep.csv");
        std::fs::write(&path, older).unwrap();
        let (table, known) = SweepTable::resume(&path, |_| Ok(())).unwrap();
        drop(table);
        let found: Vec<_> =
            known.iter().map(|row| (row.command.as_str(), row.threads, row.sweeps)).collect();
        assert_eq!(found, rows.map(|(run, threads)| (run, threads, Some(28))));
        let written = std::fs::read_to_string(&path).unwrap();
        assert!(
            written.starts_with(&String::from_utf8(header_line(&SweepRow::NAMES)).unwrap()),
            "{written}"
        );
        assert!(written.contains(",tiled,3,7,28,"), "{written}");
    }

    #[test]
    fn one_process_writes_a_table_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sweep.csv");
        let first = SweepTable::create(&path).unwrap();
        let said = SweepTable::resume(&path, |_| Ok(())).unwrap_err().to_string();
        assert!(said.contains("is being written by "), "{said}");
        if cfg!(target_os = "linux") {
            assert!(said.contains(&format!("process {};", std::process::id())), "{said}");
        }
        drop(first);
        SweepTable::resume(&path, |_| Ok(())).unwrap();
    }

    #[test]
    fn an_existing_file_is_never_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sweep.csv");
        drop(SweepTable::create(&path).unwrap());
        drop(SweepTable::create(&path).unwrap());
        std::fs::write(&path, "x").unwrap();
        let said = SweepTable::create(&path).unwrap_err().to_string();
        assert!(said.contains("already exists; continue it with --resume"), "{said}");
        let mismatch = RowMismatch::Measured { table: "time".into(), sweep: "cycles".into() };
        std::fs::write(&path, header_line(&SweepRow::NAMES)).unwrap();
        let said = SweepTable::resume(&path, |_| Err(mismatch)).unwrap_err().to_string();
        assert!(said.ends_with("it measured time, and this sweep measures cycles"), "{said}");
        std::fs::write(&path, "cycle,sweeps\n1,2\n").unwrap();
        let said = SweepTable::resume(&path, |_| Ok(())).unwrap_err().to_string();
        assert!(said.contains("is not the table of a sweep"), "{said}");
        let older =
            SweepRow::NAMES.into_iter().filter(|name| !name.starts_with("predicted_cycles"));
        std::fs::write(&path, older.collect::<Vec<_>>().join(",") + "\n").unwrap();
        let said = SweepTable::resume(&path, |_| Ok(())).unwrap_err().to_string();
        let lacks = "its first line lacks the columns predicted_cycles, predicted_cycles_bar; it";
        assert!(said.contains(lacks) && said.ends_with("with -o"), "{said}");
        let edited = SweepRow::NAMES.join(",").replace("edge_share", "share") + "\n";
        std::fs::write(&path, edited).unwrap();
        let said = SweepTable::resume(&path, |_| Ok(())).unwrap_err().to_string();
        let differs = "lacks the column edge_share and has beside its own the column share;";
        assert!(said.contains(differs), "{said}");
    }
}
