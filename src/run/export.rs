//! Runs, curves and fields as files that other programs read.

use super::cut::CutLine;
use super::experiment::{FieldKind, Picture};
use super::history::{History, Record};
use super::spec::RunSpec;
use super::track::{AtCycle, ProbeTrack};
use crate::files::{FileError, write_atomically};
use crate::grid::{Field, Precision, Shape};
use crate::solver::{AtDistance, Inside, Samples};
use npyz::{DType, TypeStr, WriterBuilder};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;

/// The first line of a curve's file.
pub const CURVE_HEADER: [&str; 8] = [
    "cycle",
    "sweeps",
    "seconds",
    "residual_l2",
    "residual_max",
    "reduction",
    "max_change",
    "error_l2",
];

/// Saves the description of a run as TOML, so that [`RunSpec::load`] gives the same run again.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_run(path: &Path, spec: &RunSpec) -> Result<(), FileError> {
    let text = spec.beside(path).to_toml();
    write_atomically(path, |out| out.write_all(text.as_bytes()))
}

/// Saves the norms of a run as CSV, a row a cycle under [`CURVE_HEADER`]; what is not known is an
/// empty cell. `reduction` is ‖r‖₂ over `start_residual`, ‖r₀‖₂.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_curve(
    path: &Path,
    history: &History,
    sweeps_per_cycle: u64,
    start_residual: f64,
) -> Result<(), FileError> {
    let row = |record| cells(record, sweeps_per_cycle, start_residual);
    save_rows(path, CURVE_HEADER, history.records().map(row))
}

fn cells(record: &Record, sweeps_per_cycle: u64, start_residual: f64) -> [String; 8] {
    let residual = record.residual;
    [
        record.cycle.to_string(),
        (record.cycle * sweeps_per_cycle).to_string(),
        format!("{:.6}", record.seconds),
        cell(residual.map(|norms| norms.l2)),
        cell(residual.and_then(|norms| norms.max)),
        cell(residual.map(|norms| reduction(norms.l2, start_residual))),
        cell(record.max_change),
        cell(record.error),
    ]
}

/// All digits, so that reading a cell gives the same value again.
fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:?}"))
}

/// Saves samples of a field along a line of a grid as CSV, a row a sample under the name of its place
/// and that of the field; what is not known is an empty cell. The place is `i` along a row and `j` along
/// a column; along a segment it is the `distance` from its start in steps of the grid, and `i` and `j`.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_profile(
    path: &Path,
    shape: &Shape,
    cut: CutLine,
    field: FieldKind,
    samples: &Samples,
) -> Result<(), FileError> {
    let names: &[&str] = match cut {
        CutLine::Row(_) => &["i"],
        CutLine::Column(_) => &["j"],
        CutLine::Segment(_) => &["distance", "i", "j"],
    };
    let places = |point: [usize; 2]| match cut {
        CutLine::Row(_) => vec![point[0].to_string()],
        CutLine::Column(_) => vec![point[1].to_string()],
        CutLine::Segment(_) => {
            vec![format!("{:?}", cut.place(point)), point[0].to_string(), point[1].to_string()]
        }
    };
    let points = cut.points(shape).step_by(cut.block(samples)).zip(&samples.values);
    let row = |(point, value): (_, &f32)| places(point).into_iter().chain([sample(*value)]);
    save_rows(path, names.iter().chain([&field.name()]), points.map(row))
}

/// Saves samples of a field on a plane as CSV, a row a sample under the names of its two places and
/// that of the value; what is not known is an empty cell. Where a sample stands for more points than
/// one, its place is that of the first.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_map(path: &Path, header: [&str; 3], picture: &Picture) -> Result<(), FileError> {
    let Picture { samples, cycles_per_row } = picture;
    let [across, down] = samples.block;
    let down = down as u64 * cycles_per_row.unwrap_or(1);
    let width = samples.size[0].max(1);
    let row = |(at, value): (usize, &f32)| {
        let x = samples.columns.start + at % width * across;
        let y = samples.rows.start as u64 + (at / width) as u64 * down;
        [x.to_string(), y.to_string(), sample(*value)]
    };
    save_rows(path, header, samples.values.iter().enumerate().map(row))
}

/// Saves the magnitude of a field by distance from the nearest tile border as CSV, a row a distance
/// (or a few, of large tiles).
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_distances(path: &Path, distances: &[AtDistance]) -> Result<(), FileError> {
    let header = ["from", "to", "points", "lower_quartile", "median", "upper_quartile"];
    let row = |class: &AtDistance| {
        let [lower, median, upper] = class.quartiles.map(sample);
        let ends = [class.distances.start(), class.distances.end()].map(ToString::to_string);
        let [from, to] = ends;
        [from, to, class.points.to_string(), lower, median, upper]
    };
    save_rows(path, header, distances.iter().map(row))
}

/// Saves the part of ‖r‖² near tile borders, 0 to 1, as CSV, a row a cycle.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_edge_share(path: &Path, edges: &[AtCycle]) -> Result<(), FileError> {
    let row = |at: &AtCycle| [at.cycle.to_string(), cell(Some(at.value))];
    save_rows(path, ["cycle", "edge_share"], edges.iter().map(row))
}

/// Saves the values of a field at single points as CSV, a row a cycle and a column a point; what is
/// not known is an empty cell.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_probes(path: &Path, probes: &[ProbeTrack]) -> Result<(), FileError> {
    let name = |probe: &ProbeTrack| {
        let [i, j] = probe.point;
        format!("{}({i},{j})", probe.field.name())
    };
    let header = std::iter::once("cycle".to_owned()).chain(probes.iter().map(name));
    let cycles = probes.iter().flat_map(|probe| probe.values.iter().map(|at| at.cycle));
    let cycles: BTreeSet<_> = cycles.collect();
    let rows = cycles.into_iter().map(|cycle| {
        let value = |probe: &ProbeTrack| {
            let at = probe.values.binary_search_by_key(&cycle, |at| at.cycle).ok()?;
            Some(probe.values[at].value)
        };
        let values = probes.iter().map(|probe| cell(value(probe)));
        std::iter::once(cycle.to_string()).chain(values).collect::<Vec<_>>()
    });
    save_rows(path, header, rows)
}

/// Saves the inside of a cycle as CSV, a row a point of the tile and of its ring; of a line, of each
/// subiteration. Points count from 0, so that those of the ring may be −1; what is not known is an
/// empty cell.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_inside(path: &Path, inside: &Inside, is_line: bool) -> Result<(), FileError> {
    let down = if is_line { "subiteration" } else { "j" };
    let [left, top] = [0, 1].map(|axis| inside.computed[axis].start as i64 - 1);
    let top = if is_line { 0 } else { top };
    let width = inside.size[0].max(1);
    let rows = inside.iterate.iter().zip(&inside.staleness).enumerate();
    let row = |(at, (u, lag)): (usize, (&f32, &f32))| {
        let place = [left + (at % width) as i64, top + (at / width) as i64];
        let [i, j] = place.map(|place| place.to_string());
        [i, j, sample(*u), sample(*lag)]
    };
    save_rows(path, ["i", down, "u", "lag"], rows.map(row))
}

/// Saves a table under its header.
fn save_rows<R: IntoIterator<Item: AsRef<[u8]>>>(
    path: &Path,
    header: impl IntoIterator<Item: AsRef<[u8]>>,
    rows: impl Iterator<Item = R>,
) -> Result<(), FileError> {
    write_atomically(path, |out| {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(header)?;
        for row in rows {
            csv.write_record(row)?;
        }
        csv.flush()
    })
}

/// A sample with all its digits; nothing of one that is not known.
fn sample(value: f32) -> String {
    if value.is_nan() { String::new() } else { format!("{value:?}") }
}

/// ‖r‖₂ / ‖r₀‖₂. A start that solves the system has nothing left to reduce: 0 then.
pub fn reduction(residual: f64, start_residual: f64) -> f64 {
    if residual == 0.0 { 0.0 } else { residual / start_residual }
}

/// Saves the interior of a field as a little-endian NumPy array in C order: `[ny, nx]` of a plane,
/// `[copies, nx]` of lines. Values are written in the precision that the run was made in.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_field(path: &Path, field: &Field<f64>, precision: Precision) -> Result<(), FileError> {
    let shape = field.shape();
    let size = [shape.nx(), shape.rows()];
    let values = (0..shape.rows()).flat_map(|row| field.interior(row)).copied();
    match precision {
        #[allow(clippy::cast_possible_truncation)]
        Precision::F32 => save_values(path, size, "<f4", values.map(|value| value as f32)),
        Precision::F64 => save_values(path, size, "<f8", values),
    }
}

/// Saves samples of a field in the same way, as single-precision numbers; what is not known is NaN.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_samples(path: &Path, samples: &Samples) -> Result<(), FileError> {
    save_values(path, samples.size, "<f4", samples.values.iter().copied())
}

/// `size` is across and down.
fn save_values<T: npyz::Serialize + npyz::AutoSerialize>(
    path: &Path,
    [columns, rows]: [usize; 2],
    kind: &str,
    values: impl Iterator<Item = T>,
) -> Result<(), FileError> {
    write_atomically(path, |out| {
        let kind: TypeStr = kind.parse().map_err(io::Error::other)?;
        let mut npy = npyz::WriteOptions::new()
            .dtype(DType::new_scalar(kind))
            .shape(&[rows as u64, columns as u64])
            .writer(out)
            .begin_nd()?;
        npy.extend(values)?;
        npy.finish()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::ResidualNorms;

    #[test]
    fn a_field_comes_back_in_shape_precision_and_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.npy");
        let shapes = [(Shape::plane(5, 3), [3, 5]), (Shape::line(4, 2), [2, 4])];
        for (shape, expected) in shapes {
            let field = Field::from_fn(shape.unwrap(), |i, row| 0.1 * i as f64 - row as f64);
            save_field(&path, &field, Precision::F64).unwrap();
            let npy = npyz::NpyFile::new(std::fs::File::open(&path).unwrap()).unwrap();
            assert_eq!((npy.shape(), npy.dtype().descr()), (&expected[..], "'<f8'".into()));
            assert_eq!(npy.into_vec::<f64>().unwrap(), field.to_interior());
            save_field(&path, &field, Precision::F32).unwrap();
            let npy = npyz::NpyFile::new(std::fs::File::open(&path).unwrap()).unwrap();
            assert_eq!(npy.dtype().descr(), "'<f4'");
            let rounded: Vec<_> = field.to_interior().iter().map(|&v| v as f32).collect();
            assert_eq!(npy.into_vec::<f32>().unwrap(), rounded);
        }
    }

    #[test]
    fn a_profile_has_a_row_a_point() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        let shape = Shape::plane(9, 3).unwrap();
        let values = vec![0.25, f32::NAN, -1e-7];
        let samples = Samples { columns: 7..8, rows: 0..3, block: [1, 1], size: [1, 3], values };
        save_profile(&path, &shape, CutLine::Column(7), FieldKind::Residual, &samples).unwrap();
        let expected = "j,residual\n0,0.25\n1,\n2,-1e-7\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        let segment = CutLine::Segment([[8, 2], [4, 0]]);
        let samples = Samples::along(&[1.0, 2.0, 3.0, 4.0, 0.5], 3);
        save_profile(&path, &shape, segment, FieldKind::Error, &samples).unwrap();
        let expected = "distance,i,j,error\n0.0,8,2,2.0\n2.23606797749979,6,1,4.0\n\
                        4.47213595499958,4,0,0.5\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn numbers_over_the_cycles_have_a_row_a_cycle_and_a_column_a_point() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        let probe = |point, values: &[(u64, f64)]| ProbeTrack {
            point,
            field: FieldKind::Change,
            values: values.iter().map(|&(cycle, value)| AtCycle { cycle, value }).collect(),
        };
        let probes = [probe([3, 4], &[(0, 0.5), (2, -1e-7)]), probe([5, 0], &[(2, 2.0)])];
        save_probes(&path, &probes).unwrap();
        let expected = "cycle,\"change(3,4)\",\"change(5,0)\"\n0,0.5,\n2,-1e-7,2.0\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        save_edge_share(&path, &probes[0].values).unwrap();
        let expected = "cycle,edge_share\n0,0.5\n2,-1e-7\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn a_curve_leaves_unknown_cells_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.csv");
        let residual = Some(ResidualNorms { l2: 2.0, max: Some(1e-7) });
        let start = Record { cycle: 0, seconds: 0.0, residual, max_change: None, error: None };
        let mut history = History::new(start);
        history.push(Record { cycle: 1, residual: None, max_change: Some(0.5), ..start });
        save_curve(&path, &history, 16, 4.0).unwrap();
        let expected = "cycle,sweeps,seconds,residual_l2,residual_max,reduction,max_change,error_l2\n\
                        0,0,0.000000,2.0,1e-7,0.5,,\n1,16,0.000000,,,,0.5,\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }
}
