//! Sparse matrices of a run: their description, and the problems that are made of it.

use super::initial_guess::InitialGuess;
use super::plan::{PlanError, Planner, RadiusCell, constant_guess, power_iteration};
use super::spec::{Backend, ProblemKind, ProblemSpec, RunSpec};
use crate::clock::Instant;
use crate::grid::{Shape, memory};
use crate::number::counted;
use crate::pauses::without_pauses;
use crate::problem::matrix::{
    Analysis, Checksum, Generated, Graph, MarketError, Ordering, Places, checksum, read_matrix,
    read_rows, read_vector, shuffled, tiles,
};
use crate::problem::{Boundary, Csr, Operator, Problem, Source, input};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Rows of a block of a matrix unless others are chosen.
pub const BLOCK: usize = 256;

/// A sparse matrix, as it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixSpec {
    /// The name of a matrix that comes with the program, such as `ice-sheet`; a grid problem with its shape,
    /// such as `poisson-256x256`; or the path of a Matrix Market file.
    pub source: PathBuf,
    /// The order of the unknowns.
    #[serde(default, skip_serializing_if = "is_natural")]
    pub ordering: Ordering,
    /// The grid of nodes, x first, that the rows are in the order of; tiles need it, and maps show it. Matrices that
    /// come with the program know their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<[usize; 2]>,
    /// The file of x and y of each row, by which maps show them: an array `[rows, 2]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordinates: Option<PathBuf>,
    /// The checksum of the file of the matrix, in the files of runs: another content is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<Checksum>,
    /// The initial guess; zero without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialGuess>,
}

fn is_natural(ordering: &Ordering) -> bool {
    *ordering == Ordering::Natural
}

/// The seed of a random order.
const SEED: u64 = 1;

/// What the name of a matrix stands for.
enum Named {
    Generated(Generated),
    /// A problem on a grid.
    Grid(Box<ProblemSpec>),
    File,
}

impl MatrixSpec {
    /// A matrix in its own order.
    pub fn new(source: impl Into<PathBuf>) -> Self {
        Self {
            source: source.into(),
            ordering: Ordering::Natural,
            nodes: None,
            coordinates: None,
            checksum: None,
            initial: None,
        }
    }

    /// The name of the matrix, or of its file without the folders.
    pub fn name(&self) -> String {
        let name = self.source.file_name().unwrap_or(self.source.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Whether it is a file, and not a matrix that comes with the program.
    pub fn is_file(&self) -> bool {
        matches!(self.named(), Named::File)
    }

    /// The files that it names.
    pub(super) fn files(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let source = if self.is_file() { Some(&mut self.source) } else { None };
        let initial = self.initial.as_mut().and_then(InitialGuess::file_mut);
        source.into_iter().chain(self.coordinates.as_mut()).chain(initial)
    }

    /// The same with the checksum of its file, if that can be read.
    pub(super) fn summed(mut self) -> Self {
        if self.is_file() && self.checksum.is_none() {
            self.checksum = checksum(&self.source).ok();
        }
        self
    }

    /// Refuses a file that is not the one that the run was made with.
    fn check_sum(&self) -> Result<(), PlanError> {
        let Some(known) = self.checksum else { return Ok(()) };
        let read = |source| MarketError::Read { path: self.source.clone(), source };
        let found = checksum(&self.source).map_err(read).map_err(|error| self.unread(error))?;
        if found == known {
            return Ok(());
        }
        let allowed = format!(
            "the run was made with another file, of checksum {known}; remove the checksum from the description to use this one"
        );
        let given = format!("{} with checksum {found}", self.source.display());
        Err(super::plan::value("matrix", given, allowed))
    }

    /// Where its rows lie, if that is known.
    fn places(&self, rows: usize) -> Result<Option<Places>, PlanError> {
        if let Some(path) = &self.coordinates {
            return Ok(Some(Places::read(path, rows)?));
        }
        let places = self.nodes.map(Places::Grid);
        Ok(places.or_else(|| match self.named() {
            Named::Generated(generated) => generated.places(),
            Named::Grid(problem) => <[usize; 2]>::try_from(problem.shape).ok().map(Places::Grid),
            Named::File => None,
        }))
    }

    fn named(&self) -> Named {
        let Some(name) = self.source.to_str() else { return Named::File };
        if let Some(generated) = Generated::named(name) {
            return Named::Generated(generated);
        }
        grid_problem(name).map_or(Named::File, |problem| Named::Grid(Box::new(problem)))
    }

    /// Its rows. Only the header of a file is read.
    ///
    /// # Errors
    /// [`PlanError`] if it cannot be read.
    pub fn rows(&self) -> Result<usize, PlanError> {
        match self.named() {
            Named::Generated(generated) => Ok(generated.rows()),
            Named::Grid(problem) => Ok(problem.shape.iter().product()),
            Named::File => read_rows(&self.source).map_err(|error| self.unread(error)),
        }
    }

    /// The error of its file; of one that is not there, with the names that may have been meant.
    fn unread(&self, error: MarketError) -> PlanError {
        let is_missing = matches!(&error, MarketError::Read { source, .. } if source.kind() == ErrorKind::NotFound);
        if !is_missing || self.source.extension().is_some() {
            return error.into();
        }
        let names = Generated::NAMES.map(|(name, _)| name).join(", ");
        let allowed = format!(
            "there is no such file; known by name are {names}, and grid problems such as poisson-256x256"
        );
        super::plan::value("matrix", self.source.display(), allowed)
    }

    /// The grid of its nodes, where it is known.
    pub fn node_grid(&self) -> Option<[usize; 2]> {
        self.nodes.or_else(|| match self.named() {
            Named::Generated(generated) => generated.nodes(),
            Named::Grid(problem) => <[usize; 2]>::try_from(problem.shape).ok(),
            Named::File => None,
        })
    }

    /// The problem in its own order, b = 1 and x₀ = 0 unless it is one of a grid.
    fn load(&self, on_progress: &mut dyn FnMut(f64)) -> Result<Problem, PlanError> {
        let matrix = match self.named() {
            Named::Generated(generated) => generated.matrix()?,
            Named::File => {
                self.check_sum()?;
                read_matrix(&self.source, on_progress).map_err(|error| self.unread(error))?
            }
            Named::Grid(problem) => {
                let mut run = RunSpec { problem: *problem, ..RunSpec::default() };
                // Its problem alone is needed, and no GPU for that.
                run.method.backend = Backend::Cpu;
                let plan = Planner::default().plan(&run)?;
                let refuse = || {
                    super::plan::value("matrix", self.source.display(), "it has too many points")
                };
                memory::check_bytes("the matrix of this grid", plan.problem.matrix_bytes())?;
                return plan.problem.as_matrix().ok_or_else(refuse);
            }
        };
        Ok(Problem {
            shape: Shape::grid_1d(matrix.rows(), 1)?,
            operator: Operator::Csr(Arc::new(matrix)),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(0.0),
            boundary: Boundary::default(),
        })
    }
}

/// The grid problem of a name such as `poisson-256x256`.
fn grid_problem(name: &str) -> Option<ProblemSpec> {
    let (kind, shape) = name.rsplit_once('-')?;
    let kind = ProblemKind::ALL.into_iter().find(|known| known.name() == kind)?;
    if matches!(kind, ProblemKind::Picture | ProblemKind::Matrix) {
        return None;
    }
    let shape: Option<Vec<usize>> = shape.split('x').map(|n| n.parse().ok()).collect();
    let shape = shape.filter(|shape| shape.len() <= 3)?;
    Some(ProblemSpec { kind, shape, ..ProblemSpec::default() })
}

/// A problem in the order of its blocks.
#[derive(Clone, Debug)]
pub(super) struct Ordered {
    pub problem: Arc<Problem>,
    /// Row `i` is row `order[i]` of the matrix; `None` where it is row `i`.
    pub order: Option<Arc<[u32]>>,
    pub places: Option<Places>,
    pub analysis: Arc<Analysis>,
    pub jacobi_radius: RadiusCell,
    pub times: PlanTimes,
}

/// Seconds that making a problem took, when it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlanTimes {
    /// To read the matrix, or to generate it.
    pub read: f64,
    /// To put its rows in order.
    pub order: f64,
}

/// A matrix in its own order.
#[derive(Clone, Debug)]
struct Loaded {
    problem: Arc<Problem>,
    places: Option<Places>,
    analysis: Arc<Analysis>,
    jacobi_radius: RadiusCell,
    /// Seconds that reading it took.
    seconds: f64,
}

/// Whom the progress of reading is reported to: the file, and the fraction that is read.
#[derive(Default)]
pub(super) struct OnRead(Option<ReportRead>);

/// Gets the name of a matrix and how much of it is read, from 0 to 1.
type ReportRead = Box<dyn FnMut(&str, f64) + Send>;

impl OnRead {
    pub fn new(report: impl FnMut(&str, f64) + Send + 'static) -> Self {
        Self(Some(Box::new(report)))
    }
}

impl fmt::Debug for OnRead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("OnRead").field(&self.0.is_some()).finish()
    }
}

/// The last matrices that were loaded and ordered, so that a change of the method reads no file again.
#[derive(Debug, Default)]
pub(super) struct Matrices {
    loaded: Option<(ProblemSpec, Loaded)>,
    ordered: Option<(ProblemSpec, usize, Ordered)>,
    pub on_read: OnRead,
}

impl Matrices {
    /// The problem of a description whose kind is `matrix`, in the order of blocks of `block` rows.
    ///
    /// # Errors
    /// [`PlanError`] names the file and the line, or the field and its value.
    pub fn problem(&mut self, spec: &ProblemSpec, block: usize) -> Result<Ordered, PlanError> {
        let Some(matrix) = &spec.matrix else {
            let allowed = "this problem needs a Matrix Market file or the name of a matrix";
            return Err(super::plan::value("matrix", "missing", allowed));
        };
        let depends_on_block = matches!(matrix.ordering, Ordering::Tiles | Ordering::Grown);
        let known = self.ordered.as_ref().filter(|(known, known_block, _)| {
            known == spec && (*known_block == block || !depends_on_block)
        });
        if let Some((.., ordered)) = known {
            return Ok(ordered.clone());
        }
        let unordered = ProblemSpec {
            seed: None,
            matrix: Some(MatrixSpec { ordering: Ordering::Natural, nodes: None, ..matrix.clone() }),
            ..spec.clone()
        };
        let loaded = match &self.loaded {
            Some((known, loaded)) if *known == unordered => loaded.clone(),
            _ => self.load(&unordered, matrix)?,
        };
        self.loaded = Some((unordered, loaded.clone()));
        let Loaded { problem: natural, places, analysis, jacobi_radius, seconds } = loaded;
        let rows = natural.shape.nx();
        if let Some([nx, ny]) = matrix.nodes
            && nx.checked_mul(ny) != Some(rows)
        {
            let allowed = format!("the matrix has {}", counted(rows as u64, "row"));
            return Err(super::plan::value("nodes", format!("{nx}x{ny}"), allowed));
        }
        if matrix.ordering != Ordering::Natural {
            memory::check_bytes("putting the rows in order", ordering_bytes(&natural))?;
        }
        let begin = Instant::now();
        let order = order(spec, matrix, &natural, block)?;
        let problem = order
            .as_deref()
            .map_or_else(|| Arc::clone(&natural), |order| Arc::new(in_order(&natural, order)));
        let times = PlanTimes { read: seconds, order: begin.elapsed().as_secs_f64() };
        let of_permuted = |matrix: &Arc<Csr>| Arc::new(analysis.of_permuted(matrix));
        let analysis = match order {
            Some(_) => problem.operator.matrix().map_or_else(|| analysis.clone(), of_permuted),
            None => analysis,
        };
        let ordered = Ordered {
            problem,
            order: order.map(Arc::from),
            places: matrix
                .nodes
                .filter(|_| matrix.coordinates.is_none())
                .map(Places::Grid)
                .or(places),
            analysis,
            jacobi_radius,
            times,
        };
        self.ordered = Some((spec.clone(), block, ordered.clone()));
        Ok(ordered)
    }

    /// Reads a matrix in its own order, with what belongs to it.
    fn load(&mut self, spec: &ProblemSpec, matrix: &MatrixSpec) -> Result<Loaded, PlanError> {
        let begin = Instant::now();
        let name = matrix.name();
        let problem = load(spec, matrix, &mut |part| {
            if let Some(report) = &mut self.on_read.0 {
                report(&name, part);
            }
        })?;
        // Nodes that were chosen are not part of what is kept.
        let places = MatrixSpec { nodes: None, ..matrix.clone() }.places(problem.shape.nx())?;
        let seconds = begin.elapsed().as_secs_f64();
        let jacobi_radius = RadiusCell::default();
        // What may diverge is warned of before the run; otherwise it is found when it is asked for.
        let not_dominant = problem.operator.matrix().filter(|_| !problem.operator.is_dominant());
        if let Some(matrix) = not_dominant {
            _ = jacobi_radius.set(without_pauses(power_iteration(&problem.shape, matrix)));
        }
        let analysis = problem.operator.matrix().map(|matrix| Analysis::of(matrix));
        let analysis = Arc::new(analysis.unwrap_or_default());
        Ok(Loaded { problem: Arc::new(problem), places, analysis, jacobi_radius, seconds })
    }
}

/// Reads a matrix with its right-hand side and its initial guess.
fn load(
    spec: &ProblemSpec,
    matrix: &MatrixSpec,
    on_progress: &mut dyn FnMut(f64),
) -> Result<Problem, PlanError> {
    let mut problem = matrix.load(on_progress)?;
    let rows = problem.shape.nx();
    if spec.shape != [rows] {
        let allowed = format!("the matrix has {}", counted(rows as u64, "row"));
        return Err(super::plan::value("shape", format!("{:?}", spec.shape), allowed));
    }
    if let Some(path) = &spec.rhs {
        problem.rhs = vector(path, &problem.shape)?;
    }
    match &matrix.initial {
        Some(InitialGuess::Value(constant)) => problem.initial_guess = constant_guess(*constant)?,
        Some(InitialGuess::File(path)) => problem.initial_guess = vector(path, &problem.shape)?,
        None => {}
    }
    Ok(problem)
}

/// A value for each row from a Matrix Market file or a NumPy array.
fn vector(path: &Path, shape: &Shape) -> Result<Source, PlanError> {
    let values = if crate::problem::matrix::is_market(path) {
        read_vector(path, shape.nx())?.into()
    } else {
        input::load_array(path, shape)?
    };
    Ok(Source::Array(values))
}

/// Bytes that putting the rows of a problem in another order takes at most: the graph of its matrix, the search in it,
/// and its numbers in their new order.
fn ordering_bytes(problem: &Problem) -> u64 {
    /// Of a row: its place and its row before, what the search keeps of it, the right-hand side and the initial guess.
    const OF_ROW: u64 = 2 * 4 + 64 + 2 * 8;
    let rows = problem.shape.nx() as u64;
    let of_matrix = |matrix: &Arc<Csr>| Graph::bytes(matrix).saturating_add(matrix.bytes());
    let of_matrix = problem.operator.matrix().map_or(0, of_matrix);
    of_matrix.saturating_add(rows.saturating_mul(OF_ROW))
}

/// The order of the rows; `None` for that of the matrix.
fn order(
    spec: &ProblemSpec,
    matrix: &MatrixSpec,
    problem: &Problem,
    block: usize,
) -> Result<Option<Vec<u32>>, PlanError> {
    let rows = problem.shape.nx();
    let graph = || problem.operator.matrix().map(|matrix| Graph::new(matrix));
    Ok(match matrix.ordering {
        Ordering::Natural => None,
        Ordering::Rcm => graph().map(|graph| graph.reverse_cuthill_mckee()),
        Ordering::Grown => graph().map(|graph| graph.grown(block.max(1))),
        Ordering::Random => Some(shuffled(rows, spec.seed.unwrap_or(SEED))),
        Ordering::Tiles => {
            let Some([nx, ny]) = matrix.node_grid() else {
                let allowed = "its nodes must lie on a grid: name it, such as nodes 301x561";
                return Err(super::plan::value("ordering", "tiles", allowed));
            };
            let side = block.isqrt();
            if block == 0 || side * side != block {
                let allowed = "ordering tiles needs a square number of rows, such as 256";
                return Err(super::plan::value("tile", block, allowed));
            }
            Some(tiles([nx, ny], side))
        }
    })
}

/// A matrix problem with its rows in another order.
fn in_order(problem: &Problem, order: &[u32]) -> Problem {
    let rows = problem.shape.nx();
    let moved = |source: &Source| match source {
        Source::Constant(value) => Source::Constant(*value),
        other => Source::Array(order.iter().map(|row| other.at(rows, *row as usize, 0)).collect()),
    };
    let permuted = |matrix: &Arc<Csr>| Operator::Csr(Arc::new(matrix.permuted(order)));
    Problem {
        operator: problem.operator.matrix().map_or_else(|| problem.operator.clone(), permuted),
        rhs: moved(&problem.rhs),
        initial_guess: moved(&problem.initial_guess),
        ..problem.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str =
        "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 2\n2 2 2\n3 3 2\n1 2 -1\n";

    fn run_of(path: PathBuf) -> RunSpec {
        let mut run = RunSpec::default();
        run.problem.kind = ProblemKind::Matrix;
        run.problem.shape = vec![3];
        run.problem.matrix = Some(MatrixSpec::new(path));
        run.method.tile = vec![2];
        run
    }

    #[test]
    fn a_saved_run_refuses_a_matrix_that_was_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        std::fs::write(&path, SMALL).unwrap();
        let file = folder.path().join("run.toml");
        crate::run::save_run(&file, &run_of(path.clone())).unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("checksum = \"crc32:"), "{text}");
        let read = RunSpec::load(&file).unwrap();
        Planner::default().plan(&read).unwrap();
        std::fs::write(&path, SMALL.replace("-1", "-1.5")).unwrap();
        let refused = Planner::default().plan(&read).unwrap_err().to_string();
        assert!(refused.contains("the run was made with another file"), "{refused}");
        // A matrix by name has none.
        crate::run::save_run(&file, &run_of("heat-1d".into())).unwrap();
        assert!(!std::fs::read_to_string(&file).unwrap().contains("checksum"));
    }

    #[test]
    fn coordinates_are_read_beside_the_matrix() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        std::fs::write(&path, SMALL).unwrap();
        let coordinates = folder.path().join("xy.mtx");
        let array = "%%MatrixMarket matrix array real general\n3 2\n0\n1\n2\n5\n6\n7\n";
        std::fs::write(&coordinates, array).unwrap();
        let mut run = run_of(path);
        if let Some(matrix) = &mut run.problem.matrix {
            matrix.coordinates = Some(coordinates.clone());
        }
        let plan = Planner::default().plan(&run).unwrap();
        let expected = [[0.0, 5.0], [1.0, 6.0], [2.0, 7.0]];
        assert_eq!(plan.places, Some(Places::Points(expected.into())));
        std::fs::write(&coordinates, array.replace("3 2", "2 3")).unwrap();
        let refused = Planner::default().plan(&run).unwrap_err().to_string();
        assert!(refused.contains("the matrix needs 3 rows and 2 columns"), "{refused}");
    }

    #[test]
    fn the_progress_of_a_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");
        std::fs::write(&path, SMALL).unwrap();
        let (send, reports) = std::sync::mpsc::channel();
        let mut planner = Planner::default().on_read(move |name, part| {
            send.send((name.to_owned(), part)).unwrap();
        });
        let plan = planner.plan(&run_of(path)).unwrap();
        assert_eq!(reports.try_recv(), Ok(("a.mtx".to_owned(), 0.0)));
        assert!(plan.times.read > 0.0, "{:?}", plan.times);
    }
}
