//! What a kind of figure is: one type that knows its name, what it needs and how it is drawn.

use crate::grid::{Need, Shape};
use crate::picture::axis::scale::Range;
use crate::picture::draw::drawing::Drawing;
use crate::picture::view::error::ViewError;
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::spec::{PlacedFigure, ViewSpec};
use crate::run::{CsvTable, FieldKind, Plan, Snapshot, SnapshotRequest};
use serde::{Serialize, Serializer};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::path::Path;

/// As many samples as there are points.
pub(crate) const ALL_SAMPLES: [usize; 2] = [usize::MAX; 2];

/// A kind of figure. Each implements this in a file of its own in `picture/figures/`, and is listed in
/// [`FigureKind::ALL`], from which menus, options, files and tests take it.
pub trait FigureType: Send + Sync {
    /// The name in files and on the command line.
    fn name(&self) -> &'static str;

    /// The name in menus.
    fn label(&self) -> &'static str;

    /// What it shows, in one sentence.
    fn about(&self) -> &'static str;

    /// What its table has, in one sentence; `None` where it cannot be saved as a table.
    fn about_table(&self) -> Option<&'static str> {
        None
    }

    /// The start of a file's name, before its cycle.
    fn file_stem(&self, field: FieldKind) -> String;

    /// What it needs to know of where points lie.
    fn need(&self) -> Need {
        Need::Grid
    }

    /// Which settings of a view it depends on.
    fn uses(&self) -> Uses {
        Uses::MAP
    }

    /// Whether menus offer it. What is drawn of some grids under another name is not listed twice.
    fn is_in_menus(&self) -> bool {
        true
    }

    /// Whether it shows all cycles, and not one of them.
    fn is_over_cycles(&self) -> bool {
        false
    }

    /// Whether it shows a run's cycle as such, which is the same whichever was made last.
    fn is_of_any_cycle(&self) -> bool {
        false
    }

    /// Whether it shows how far runs are when they end, whichever of their cycles is selected.
    fn shows_ends(&self) -> bool {
        false
    }

    /// Whether it maps a whole field: in 1D that is its space–time diagram.
    fn is_map(&self) -> bool {
        false
    }

    /// The fewest and the most runs that it shows beside the first.
    fn beside(&self) -> [usize; 2] {
        [0, 0]
    }

    /// Whether it compares runs point by point, so that they must be on the same grid.
    fn compares_points(&self) -> bool {
        false
    }

    /// Whether it can be part of an arrangement.
    fn can_be_placed(&self) -> bool {
        true
    }

    /// Whether it has a size of its own choice, a title and text; if not, it has one pixel per sample.
    fn has_page(&self) -> bool {
        true
    }

    /// Whether tile borders are drawn whatever was chosen.
    fn always_has_borders(&self) -> bool {
        false
    }

    /// Its usual size in pixels.
    fn size(&self) -> [u32; 2] {
        FigureSpec::default().size
    }

    /// Why it cannot be drawn now, as a hint to the user: `view` has what was chosen
    /// so far, and there are `others` runs to compare with.
    fn missing(&self, view: &ViewSpec, others: usize) -> Option<&'static str> {
        let _ = (view, others);
        None
    }

    /// What it consists of, and where each part lies; empty unless it arranges others.
    fn places<'a>(&self, view: &'a ViewSpec) -> &'a [PlacedFigure] {
        let _ = view;
        &[]
    }

    /// Adds what it needs of a run to what is requested of it.
    fn request(&self, view: &ViewSpec, shape: &Shape, request: &mut SnapshotRequest) {
        let _ = (view, shape, request);
    }

    /// Whether it can be drawn of a run on this grid.
    ///
    /// # Errors
    /// [`ViewError`] naming what does not go together.
    fn check(&self, view: &ViewSpec, shape: &Shape) -> Result<(), ViewError> {
        let _ = (view, shape);
        Ok(())
    }

    /// Whether it can be drawn of a run, as far as its plan says.
    ///
    /// # Errors
    /// [`ViewError`] saying why not.
    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        let _ = plan;
        Ok(())
    }

    /// Whether what it needs was found in the first run.
    ///
    /// # Errors
    /// [`ViewError`] saying why it was not.
    fn check_observed(&self, first: &Snapshot) -> Result<(), ViewError> {
        let _ = first;
        Ok(())
    }

    /// The range of values that shows all of these snapshots; `None` where none is known, or where all
    /// cycles are shown in any case.
    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        let _ = (snapshots, view);
        None
    }

    /// What it shows of the first run: its title before the cycle and the problem.
    fn title(&self, first: &Snapshot, view: &ViewSpec) -> String;

    /// What the line of settings has for a single run in place of its sweeps and its residual.
    fn subtitle(&self, first: &Snapshot) -> Option<String> {
        let _ = first;
        None
    }

    /// Draws it. The snapshots were taken for this view ([`ViewSpec::snapshot_request`]), of runs that go
    /// together ([`ViewSpec::check`]); the first is that of the run itself.
    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing;

    /// What it shows as numbers: a table for each curve or run, with its name.
    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let _ = (snapshots, view);
        Vec::new()
    }
}

/// Whether a name has the extension of a table.
pub fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// Which settings of a view a kind of figure depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// The field and the scale of its values.
    pub field: bool,
    /// A range of values that was chosen.
    pub range: bool,
    /// Magnitudes in place of values with a sign.
    pub absolute: bool,
    /// The colours of values.
    pub colours: bool,
    /// The slice through a 3D grid.
    pub slice: bool,
    /// The values of largest magnitude of all slices in its place.
    pub projection: bool,
    /// Tile borders that may be left out.
    pub borders: bool,
    /// What curves are drawn over.
    pub over: bool,
    /// The norm of convergence curves.
    pub norm: bool,
    /// Jacobi's iteration and its accelerations beside the run.
    pub reference: bool,
    /// The asymptotic rate of the run.
    pub rate: bool,
    /// The common point of three slices.
    pub through: bool,
    /// From where a volume is seen.
    pub camera: bool,
    /// The link to fast memory that models assume.
    pub slow_link: bool,
    /// The line of a profile.
    pub cut: bool,
    /// The points that are followed over the cycles.
    pub probes: bool,
    /// The tile and the subiteration inside a cycle.
    pub inside: bool,
}

impl Uses {
    /// What a map of a field depends on.
    pub const MAP: Self = Self {
        field: true,
        range: true,
        absolute: true,
        colours: true,
        slice: true,
        projection: true,
        borders: true,
        ..Self::NONE
    };

    const NONE: Self = Self {
        field: false,
        range: false,
        absolute: false,
        colours: false,
        slice: false,
        projection: false,
        borders: false,
        over: false,
        norm: false,
        reference: false,
        rate: false,
        through: false,
        camera: false,
        slow_link: false,
        cut: false,
        probes: false,
        inside: false,
    };

    /// What either of them uses.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            field: self.field || other.field,
            range: self.range || other.range,
            absolute: self.absolute || other.absolute,
            colours: self.colours || other.colours,
            slice: self.slice || other.slice,
            projection: self.projection || other.projection,
            borders: self.borders || other.borders,
            over: self.over || other.over,
            norm: self.norm || other.norm,
            reference: self.reference || other.reference,
            rate: self.rate || other.rate,
            through: self.through || other.through,
            camera: self.camera || other.camera,
            slow_link: self.slow_link || other.slow_link,
            cut: self.cut || other.cut,
            probes: self.probes || other.probes,
            inside: self.inside || other.inside,
        }
    }
}

/// One of the kinds of figures, by reference to its type.
#[derive(Clone, Copy)]
pub struct FigureKind(&'static dyn FigureType);

impl FigureKind {
    /// The kind of this type.
    pub(crate) const fn new(figure: &'static dyn FigureType) -> Self {
        Self(figure)
    }

    /// Whether it can be saved as a table, too.
    pub fn has_table(self) -> bool {
        self.about_table().is_some()
    }

    /// The most runs that it shows beside the first.
    pub fn most_beside(self) -> usize {
        self.beside()[1]
    }

    /// Whether it can show more runs than one.
    pub fn compares(self) -> bool {
        self.most_beside() > 0
    }
}

impl Deref for FigureKind {
    type Target = dyn FigureType;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl PartialEq for FigureKind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for FigureKind {}

impl Hash for FigureKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl fmt::Debug for FigureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for FigureKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
