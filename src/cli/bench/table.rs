//! Tables as aligned text and as Markdown; rows as CSV.

use serde::Serialize;

/// A cell without a value.
pub(super) const NOTHING: &str = "–";

/// A number per axis: `32` if all are equal, otherwise `32x16`.
pub(super) fn axes(values: &[usize]) -> String {
    match values {
        [] => NOTHING.to_owned(),
        [first, rest @ ..] if rest.iter().all(|value| value == first) => first.to_string(),
        values => values.iter().map(ToString::to_string).collect::<Vec<_>>().join("x"),
    }
}

/// The text of a value, or [`NOTHING`].
pub(super) fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), text)
}

/// A fraction in per cent.
pub(super) fn percent(fraction: f64) -> String {
    format!("{:.1} %", 100.0 * fraction)
}

/// Rows as CSV; the header is the names of their fields.
///
/// # Errors
/// If a row cannot be serialized.
pub(super) fn csv<R: Serialize>(rows: impl Iterator<Item = R>) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

/// Lines of cells; the first line is the header.
pub(super) struct Table(Vec<Vec<String>>);

impl Table {
    /// A table without the columns that are empty here, such as transfers on the CPU.
    pub fn of(lines: Vec<Vec<String>>) -> Self {
        let has_values =
            |column: usize| column == 0 || lines.iter().skip(1).any(|line| line[column] != NOTHING);
        let columns: Vec<_> =
            (0..lines.first().map_or(0, Vec::len)).filter(|&c| has_values(c)).collect();
        let kept = |line: &Vec<String>| columns.iter().map(|&c| line[c].clone()).collect();
        Self(lines.iter().map(kept).collect())
    }

    /// Aligned text: the first column to the left, the others to the right.
    pub fn text(&self) -> String {
        self.lines(|cells| cells.join("  ").trim_end().to_owned())
    }

    /// A Markdown table.
    pub fn markdown(&self) -> String {
        let mut lines = self.lines(|cells| format!("| {} |", cells.join(" | ")));
        let columns = self.0.first().map_or(0, Vec::len);
        let rule = (0..columns).map(|column| if column == 0 { "---|" } else { "--:|" });
        let rule: String = rule.collect();
        if let Some(end) = lines.find('\n') {
            lines.insert_str(end + 1, &format!("|{rule}\n"));
        }
        lines
    }

    fn lines(&self, joined: impl Fn(&[String]) -> String) -> String {
        let columns = self.0.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let widths = self.0.iter().map(|line| line[column].chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        let mut text = String::new();
        for line in &self.0 {
            let cells = line.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            text.push_str(&joined(&cells.collect::<Vec<_>>()));
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_empty_ones_dropped() {
        let line = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let head = line(["kernel", "k", "% of peak", "µs"]);
        let table = Table::of(vec![head, line(["register", "32", NOTHING, "24.1"])]);
        assert_eq!(table.text(), "kernel     k    µs\nregister  32  24.1\n");
        assert_eq!(
            table.markdown(),
            "| kernel   |  k |   µs |\n|---|--:|--:|\n| register | 32 | 24.1 |\n"
        );
    }
}
