//! Runs, curves and fields as files that other programs read.

use crate::files::{FileError, write_atomically};
use crate::grid::{Field, Precision, Shape, Slice};
use crate::number::cell;
use crate::run::history::{CycleValue, Record, reduction};
use crate::run::modes::{ModeDamping, ModeFactors};
use crate::run::observe::{CutLine, FieldKind, Frequencies, MODE_NAMES, NO_ROW, Picture, RowMap};
use crate::run::record::ProbeSeries;
use crate::run::spec::RunSpec;
use crate::solver::{AtDistance, Inside, MeanTile, Samples, Solver, Window};
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
    let spec = spec.beside(path);
    if let Some(file) = spec.unnameable_file() {
        let why = format!("the name of {} is not text (UTF-8)", file.display());
        return Err(FileError::Write { path: path.to_owned(), cause: io::Error::other(why) });
    }
    let text = spec.to_toml();
    write_atomically(path, |out| out.write_all(text.as_bytes()))
}

/// Numbers that are saved as CSV, row by row as they are written. What is not known is an empty cell.
pub struct CsvTable<'a> {
    header: Vec<String>,
    rows: Box<dyn Iterator<Item = Vec<String>> + 'a>,
}

impl<'a> CsvTable<'a> {
    /// Rows under a header.
    pub(crate) fn new<R: IntoIterator<Item = String>>(
        header: impl IntoIterator<Item: Into<String>>,
        rows: impl Iterator<Item = R> + 'a,
    ) -> Self {
        let rows = rows.map(|row| row.into_iter().collect());
        Self { header: header.into_iter().map(Into::into).collect(), rows: Box::new(rows) }
    }

    /// The rows of several runs one after the other, under the header of the first, behind a column
    /// `run` with the run's name.
    pub fn of_runs(runs: impl IntoIterator<Item = (String, Self)>) -> Self {
        let mut header = vec!["run".to_owned()];
        let mut all: Vec<Box<dyn Iterator<Item = Vec<String>> + 'a>> = Vec::new();
        for (name, table) in runs {
            if all.is_empty() {
                header.extend(table.header);
            }
            let of_run = move |row: Vec<String>| [vec![name.clone()], row].concat();
            all.push(Box::new(table.rows.map(of_run)));
        }
        Self { header, rows: Box::new(all.into_iter().flatten()) }
    }

    /// Saves it.
    ///
    /// # Errors
    /// [`FileError`] naming the file; nothing half-written is left.
    pub fn save(self, path: &Path) -> Result<(), FileError> {
        write_atomically(path, |out| {
            let mut csv = csv::Writer::from_writer(out);
            csv.write_record(&self.header)?;
            for row in self.rows {
                csv.write_record(&row)?;
            }
            csv.flush()
        })
    }
}

/// The norms of a run, one row per cycle under [`CURVE_HEADER`]. `reduction` is ‖r‖₂ over `start_residual`,
/// ‖r₀‖₂.
pub fn curve_table<'a>(
    records: impl IntoIterator<Item = &'a Record, IntoIter: 'a>,
    sweeps_per_cycle: u64,
    start_residual: f64,
) -> CsvTable<'a> {
    let row = move |record| cells(record, sweeps_per_cycle, start_residual);
    CsvTable::new(CURVE_HEADER, records.into_iter().map(row))
}

fn cells(record: &Record, sweeps_per_cycle: u64, start_residual: f64) -> [String; 8] {
    let residual = record.residual;
    [
        record.cycle.to_string(),
        (record.cycle * sweeps_per_cycle).to_string(),
        // Accelerations are not timed.
        if record.seconds.is_nan() { String::new() } else { format!("{:.6}", record.seconds) },
        cell(residual.map(|norms| norms.l2)),
        cell(residual.and_then(|norms| norms.max)),
        cell(residual.map(|norms| reduction(norms.l2, start_residual))),
        cell(record.max_change),
        cell(record.error),
    ]
}

/// Samples of a field along a line of a grid, one row per sample under the name of its place and that of
/// the field. The place is `i` along a row and `j` along a column; along a segment it is the `distance` from
/// its start in steps of the grid, and `i` and `j`. On a slice these are the indices across and down.
pub fn profile_table<'a>(
    shape: &Shape,
    slice: Option<Slice>,
    cut: CutLine,
    field: FieldKind,
    samples: &'a Samples,
) -> CsvTable<'a> {
    let [across, down] = Slice::index_names(slice);
    let names = match cut {
        CutLine::Row(_) => vec![across],
        CutLine::Column(_) => vec![down],
        CutLine::Segment(_) => vec!["distance", across, down],
    };
    let places = move |point: [usize; 2]| match cut {
        CutLine::Row(_) => vec![point[0].to_string()],
        CutLine::Column(_) => vec![point[1].to_string()],
        CutLine::Segment(_) => {
            vec![format!("{:?}", cut.place(point)), point[0].to_string(), point[1].to_string()]
        }
    };
    let points = cut.points(&shape.shown(slice)).step_by(cut.block(samples)).zip(&samples.values);
    let row = move |(point, value): (_, &f32)| places(point).into_iter().chain([sample(*value)]);
    CsvTable::new(names.into_iter().chain([field.name()]), points.map(row))
}

/// Samples of a field on a 2D grid, one row per sample under the names of its two places and that of the
/// value. Where a sample stands for more points than one, its place is that of the first.
pub fn map_table<'a>(header: [&str; 3], picture: &'a Picture) -> CsvTable<'a> {
    let Picture { samples, cycles_per_row, .. } = picture;
    let [across, down] = samples.block;
    let down = down as u64 * cycles_per_row.unwrap_or(1);
    let width = samples.size[0].max(1);
    let row = move |(at, value): (usize, &f32)| {
        let x = samples.columns.start + at % width * across;
        let y = samples.rows.start as u64 + (at / width) as u64 * down;
        [x.to_string(), y.to_string(), sample(*value)]
    };
    CsvTable::new(header, samples.values.iter().enumerate().map(row))
}

/// The frequencies of a field on a grid of `dim` axes, one row per amplitude under its half waves along each axis, of a
/// slice along its two. Where
/// an amplitude stands for more modes than one, it is the largest, and its half waves are the fewest.
pub fn frequencies_table(frequencies: &Frequencies, dim: usize) -> CsvTable<'_> {
    let Frequencies { field, amplitudes, .. } = frequencies;
    let ([across, down], width) = (amplitudes.block, amplitudes.size[0].max(1));
    let value = format!("amplitude_{}", field.name());
    let names = frequencies.axes().map(|axis| MODE_NAMES[axis].to_owned());
    let names = names.into_iter().take(dim);
    let row = move |(at, amplitude): (usize, &f32)| {
        let half_waves = [1 + at % width * across, 1 + at / width * down];
        let half_waves = half_waves.into_iter().take(dim).map(|count| count.to_string());
        half_waves.chain([sample(*amplitude)]).collect::<Vec<_>>()
    };
    CsvTable::new(names.chain([value]), amplitudes.values.iter().enumerate().map(row))
}

/// The factors by which a sweep and a cycle multiply modes, one row per mode; empty where theory knows none. Of devices
/// that exchange rarely the last column has those of all cycles from one exchange to the next.
pub fn damping_table(damping: &ModeDamping) -> CsvTable<'_> {
    let measured = if damping.cycles == 1 { "measured_cycle" } else { "measured_cycles" };
    let header = ["half_waves", "sweep", "measured_sweep", "sweeps", measured];
    let row = |mode: &ModeFactors| {
        let ModeFactors { half_waves, sweep, measured_sweep, sweeps, measured_cycle } = *mode;
        let [sweep, measured_sweep, measured_cycle] =
            [sweep, measured_sweep, measured_cycle].map(|factor| cell(Some(factor)));
        [half_waves.to_string(), sweep, measured_sweep, cell(sweeps), measured_cycle]
    };
    CsvTable::new(header, damping.modes.iter().map(row))
}

/// A field folded onto one tile, one row per point of the tile under the names of its two places and that of
/// the value.
pub fn mean_tile_table<'a>(header: [&str; 3], mean: &'a MeanTile) -> CsvTable<'a> {
    let width = mean.size[0].max(1);
    let row = move |(at, value): (usize, &f32)| {
        [(at % width).to_string(), (at / width).to_string(), sample(*value)]
    };
    CsvTable::new(header, mean.means.iter().enumerate().map(row))
}

/// A field by the rows of a matrix: of each cell of the picture its place, the row in the matrix's own order and its
/// value. Cells without a row are left out.
pub fn row_map_table<'a>(
    field: &'static str,
    map: &'a RowMap,
    order: Option<&'a [u32]>,
) -> CsvTable<'a> {
    let cells = map.rows.iter().zip(&map.values).enumerate();
    let row = move |(at, (row, value)): (usize, (&u32, &f32))| {
        let own = order.map_or(*row, |order| order[*row as usize]);
        let [across, down] = [at % map.size[0], at / map.size[0]];
        [across.to_string(), down.to_string(), own.to_string(), sample(*value)]
    };
    let known = cells.filter(|(_, (row, _))| **row != NO_ROW);
    CsvTable::new(["across", "down", "row", field], known.map(row))
}

/// The magnitude of a field by distance from the nearest tile border, one row per distance (in large
/// tiles, per few distances).
pub fn distances_table(distances: &[AtDistance]) -> CsvTable<'_> {
    let header = ["from", "to", "points", "lower_quartile", "median", "upper_quartile"];
    let row = |class: &AtDistance| {
        let [lower, median, upper] = class.quartiles.map(sample);
        let ends = [class.distances.start(), class.distances.end()].map(ToString::to_string);
        let [from, to] = ends;
        [from, to, class.points.to_string(), lower, median, upper]
    };
    CsvTable::new(header, distances.iter().map(row))
}

/// The share of ‖r‖² near tile borders, 0 to 1, one row per cycle.
pub fn edge_share_table(edges: &[CycleValue]) -> CsvTable<'_> {
    let row = |at: &CycleValue| [at.cycle.to_string(), cell(Some(at.value))];
    CsvTable::new(["cycle", "edge_share"], edges.iter().map(row))
}

/// The values of a field at single points, one row per cycle and one column per point.
pub fn probes_table(probes: &[ProbeSeries]) -> CsvTable<'_> {
    let name = |probe: &ProbeSeries| format!("{}({})", probe.field.name(), probe.point);
    let header = std::iter::once("cycle".to_owned()).chain(probes.iter().map(name));
    let cycles = probes.iter().flat_map(|probe| probe.values.iter().map(|at| at.cycle));
    let cycles: BTreeSet<_> = cycles.collect();
    let rows = cycles.into_iter().map(move |cycle| {
        let value = |probe: &ProbeSeries| {
            let at = probe.values.binary_search_by_key(&cycle, |at| at.cycle).ok()?;
            Some(probe.values[at].value)
        };
        let values = probes.iter().map(|probe| cell(value(probe)));
        std::iter::once(cycle.to_string()).chain(values).collect::<Vec<_>>()
    });
    CsvTable::new(header, rows)
}

/// The inside of a cycle: one row per point of the tile and of its halo; on a 1D grid, of each
/// subiteration. Points count from 0, so that those of the halo may be −1.
pub fn inside_table(inside: &Inside, is_line: bool) -> CsvTable<'_> {
    let [across, down] = Slice::index_names(inside.slice);
    let down = if is_line { "subiteration" } else { down };
    let [left, top] = [0, 1].map(|axis| inside.computed[axis].start as i64 - 1);
    let top = if is_line { 0 } else { top };
    let width = inside.size[0].max(1);
    let rows = inside.iterate.iter().zip(&inside.staleness).enumerate();
    let row = move |(at, (u, staleness)): (usize, (&f32, &f32))| {
        let place = [left + (at % width) as i64, top + (at / width) as i64];
        let [i, j] = place.map(|place| place.to_string());
        [i, j, sample(*u), sample(*staleness)]
    };
    CsvTable::new([across, down, "u", "staleness"], rows.map(row))
}

/// A sample with all its digits; nothing of one that is not known.
fn sample(value: f32) -> String {
    if value.is_nan() { String::new() } else { format!("{value:?}") }
}

/// Saves the interior of a field as a little-endian NumPy array in C order: `[batch, nx]` in 1D,
/// `[ny, nx]` in 2D, `[nz, ny, nx]` in 3D. Values are written in the precision that the run was made in.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_field(path: &Path, field: &Field<f64>, precision: Precision) -> Result<(), FileError> {
    save_rows(path, field.shape(), precision, |row| Ok(field.interior(row).to_vec()))
}

/// Saves the iterate of a solver in the same way, row by row: it takes no second array.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_solution(
    path: &Path,
    solver: &dyn Solver,
    precision: Precision,
) -> Result<(), FileError> {
    save_rows(path, solver.shape(), precision, |row| {
        solver.solution_row(row).map_err(io::Error::other)
    })
}

fn save_rows(
    path: &Path,
    shape: &Shape,
    precision: Precision,
    row: impl Fn(usize) -> io::Result<Vec<f64>>,
) -> Result<(), FileError> {
    let axes: Vec<u64> = match shape.dim() {
        1 => vec![shape.batch() as u64, shape.nx() as u64],
        _ => shape.axes().iter().rev().map(|&n| n as u64).collect(),
    };
    save_numbers(path, &axes, precision, shape.rows(), row)
}

/// Saves the unknowns of a matrix problem as a little-endian NumPy array `[n]` in `f64`, in the matrix's own
/// order: `order` names the row of the matrix that each unknown belongs to.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_unknowns(
    path: &Path,
    field: &Field<f64>,
    order: Option<&[u32]>,
) -> Result<(), FileError> {
    let mut values = field.to_interior();
    if let Some(order) = order {
        for (value, row) in field.interior(0).iter().zip(order) {
            values[*row as usize] = *value;
        }
    }
    write_atomically(path, |out| {
        let mut npy = npyz::WriteOptions::new()
            .default_dtype()
            .shape(&[values.len() as u64])
            .writer(out)
            .begin_nd()?;
        npy.extend(values)?;
        npy.finish()
    })
}

/// Saves what a map shows of a field in the same way: all of it in 1D and 2D, in 3D a slice, `[down, across]`.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_shown(
    path: &Path,
    field: &Field<f64>,
    slice: Option<Slice>,
    precision: Precision,
) -> Result<(), FileError> {
    let shape = field.shape();
    let Window { columns, rows, slice, .. } = Window::shown(shape, slice);
    let axes = [rows.len(), columns.len()].map(|side| side as u64);
    let value = |column, row| {
        let [i, row] = slice.map_or([column, row], |slice| slice.place([column, row], shape));
        field.interior(row)[i]
    };
    let row = |row| Ok(columns.clone().map(|column| value(column, row)).collect());
    save_numbers(path, &axes, precision, rows.len(), row)
}

/// Saves rows of numbers in this precision.
fn save_numbers(
    path: &Path,
    axes: &[u64],
    precision: Precision,
    rows: usize,
    row: impl Fn(usize) -> io::Result<Vec<f64>>,
) -> Result<(), FileError> {
    match precision {
        #[allow(clippy::cast_possible_truncation)]
        Precision::F32 => save_values(path, axes, "<f4", rows, |index| {
            Ok(row(index)?.into_iter().map(|value| value as f32).collect())
        }),
        Precision::F64 => save_values(path, axes, "<f8", rows, row),
    }
}

/// Saves an array with these axes, the slowest first, from its `rows`.
fn save_values<T: npyz::Serialize + npyz::AutoSerialize>(
    path: &Path,
    axes: &[u64],
    kind: &str,
    rows: usize,
    row: impl Fn(usize) -> io::Result<Vec<T>>,
) -> Result<(), FileError> {
    write_atomically(path, |out| {
        let kind: TypeStr = kind.parse().map_err(io::Error::other)?;
        let mut npy = npyz::WriteOptions::new()
            .dtype(DType::new_scalar(kind))
            .shape(axes)
            .writer(out)
            .begin_nd()?;
        for index in 0..rows {
            npy.extend(row(index)?)?;
        }
        npy.finish()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::GridPoint;
    use crate::solver::ResidualNorms;

    #[test]
    fn a_field_comes_back_in_shape_precision_and_value() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("u.npy");
        let shapes = [(Shape::grid_2d(5, 3), [3, 5]), (Shape::grid_1d(4, 2), [2, 4])];
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
    fn of_a_3d_field_the_slice_that_is_shown_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.npy");
        let shape = Shape::grid_3d(4, 3, 5).unwrap();
        // 0.1 has digits that f32 lacks.
        let value = |[i, j, k]: [usize; 3]| 0.1 + (i + 10 * j + 100 * k) as f64;
        let field = Field::from_fn(shape, |i, row| value([i, row % 3, row / 3]));
        let slice = Slice { axis: 1, index: 2 };
        save_shown(&path, &field, Some(slice), Precision::F64).unwrap();
        let npy = npyz::NpyFile::new(std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!((npy.shape(), npy.dtype().descr()), (&[5, 4][..], "'<f8'".into()));
        let expected = (0..5).flat_map(|k| (0..4).map(move |i| value([i, 2, k])));
        assert_eq!(npy.into_vec::<f64>().unwrap(), expected.collect::<Vec<_>>());
        save_shown(&path, &field, None, Precision::F32).unwrap();
        let npy = npyz::NpyFile::new(std::fs::File::open(&path).unwrap()).unwrap();
        assert_eq!((npy.shape(), npy.dtype().descr()), (&[3, 4][..], "'<f4'".into()));
        assert_eq!(npy.into_vec::<f32>().unwrap()[0], 200.1);
    }

    #[test]
    fn unknowns_are_saved_in_the_order_of_the_matrix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.npy");
        let field = Field::from_fn(Shape::grid_1d(3, 1).unwrap(), |i, _| i as f64);
        for (order, expected) in [(None, [0.0, 1.0, 2.0]), (Some([2, 0, 1]), [1.0, 2.0, 0.0])] {
            save_unknowns(&path, &field, order.as_ref().map(|order| &order[..])).unwrap();
            let npy = npyz::NpyFile::new(std::fs::File::open(&path).unwrap()).unwrap();
            assert_eq!((npy.shape(), npy.dtype().descr()), (&[3][..], "'<f8'".into()));
            assert_eq!(npy.into_vec::<f64>().unwrap(), expected);
        }
    }

    #[test]
    fn a_profile_has_a_row_a_point() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        let shape = Shape::grid_2d(9, 3).unwrap();
        let values = vec![0.25, f32::NAN, -1e-7];
        let samples =
            Samples { columns: 7..8, rows: 0..3, slice: None, block: [1, 1], size: [1, 3], values };
        let table = profile_table(&shape, None, CutLine::Column(7), FieldKind::Residual, &samples);
        table.save(&path).unwrap();
        let expected = "j,residual\n0,0.25\n1,\n2,-1e-7\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        let segment = CutLine::Segment([[8, 2], [4, 0]]);
        let samples = Samples::along(&[1.0, 2.0, 3.0, 4.0, 0.5], 3);
        profile_table(&shape, None, segment, FieldKind::Error, &samples).save(&path).unwrap();
        let expected = "distance,i,j,error\n0.0,8,2,2.0\n2.23606797749979,6,1,4.0\n\
                        4.47213595499958,4,0,0.5\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn numbers_over_the_cycles_have_a_row_a_cycle_and_a_column_a_point() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        let probe = |point, values: &[(u64, f64)]| ProbeSeries {
            point: GridPoint::Flat(point),
            field: FieldKind::Change,
            values: values.iter().map(|&(cycle, value)| CycleValue { cycle, value }).collect(),
        };
        let probes = [probe([3, 4], &[(0, 0.5), (2, -1e-7)]), probe([5, 0], &[(2, 2.0)])];
        probes_table(&probes).save(&path).unwrap();
        let expected = "cycle,\"update(3,4)\",\"update(5,0)\"\n0,0.5,\n2,-1e-7,2.0\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        edge_share_table(&probes[0].values).save(&path).unwrap();
        let expected = "cycle,edge_share\n0,0.5\n2,-1e-7\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn a_curve_leaves_unknown_cells_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.csv");
        let residual = Some(ResidualNorms { l2: 2.0, max: Some(1e-7) });
        let start = Record { cycle: 0, seconds: 0.0, residual, max_change: None, error: None };
        let next = Record { cycle: 1, residual: None, max_change: Some(0.5), ..start };
        curve_table(&[start, next], 16, 4.0).save(&path).unwrap();
        let expected = "cycle,sweeps,seconds,residual_l2,residual_max,reduction,max_change,error_l2\n\
                        0,0,0.000000,2.0,1e-7,0.5,,\n1,16,0.000000,,,,0.5,\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }

    #[test]
    fn rows_of_several_runs_say_whose_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("e.csv");
        let edges = [1, 2].map(|cycle| [CycleValue { cycle, value: 1.0 / cycle as f64 }]);
        let names = ["overlap 0", "overlap 2, 4"].map(str::to_owned);
        let tables = edges.iter().map(|edges| edge_share_table(edges));
        CsvTable::of_runs(names.into_iter().zip(tables)).save(&path).unwrap();
        let expected = "run,cycle,edge_share\noverlap 0,1,1.0\n\"overlap 2, 4\",2,0.5\n";
        assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
    }
}
