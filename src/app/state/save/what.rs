//! What can be saved: the figures, and a few other files.

use crate::picture::FigureKind;
use crate::run::FieldKind;

/// A file of what is shown, or of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A figure, as a picture that carries its run, or as a table.
    Figure(FigureKind),
    /// The field that is shown, as an array.
    Field,
    /// The iterate, as an array.
    Iterate,
    /// The description of the run.
    Run,
}

impl What {
    /// The files that are not figures.
    const OTHERS: [Self; 3] = [Self::Field, Self::Iterate, Self::Run];

    /// All of them, in the order of the dialog.
    pub fn all() -> Vec<Self> {
        let figures = FigureKind::ALL.iter().copied().filter(|kind| kind.is_in_menus());
        figures.map(Self::Figure).chain(Self::OTHERS).collect()
    }

    /// What a figure of this kind is saved as.
    pub fn of(kind: FigureKind) -> Self {
        Self::Figure(if kind.is_in_menus() { kind } else { FigureKind::default() })
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Figure(kind) => kind.label(),
            Self::Field => "Field as an array",
            Self::Iterate => "Iterate as an array",
            Self::Run => "Run description",
        }
    }

    /// What it is, in a sentence or two.
    pub fn about(self) -> String {
        match self {
            Self::Figure(kind) => {
                let parts = [Some(kind.about()), kind.about_table()];
                parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
            }
            Self::Field => {
                "An NPY file with the field that is shown, [ny, nx] or [batch, nx], in the run's precision."
                    .to_owned()
            }
            Self::Iterate => {
                "An NPY file with the interior of u, [ny, nx] or [batch, nx], in the run's precision."
                    .to_owned()
            }
            Self::Run => {
                "A small TOML file that reproduces the run: open it, or use it as --run.".to_owned()
            }
        }
    }

    /// The start of the name that is suggested, before the cycle.
    pub fn file_stem(self, field: FieldKind) -> String {
        match self {
            Self::Figure(kind) => kind.file_stem(field),
            Self::Field => field.name().to_owned(),
            Self::Iterate => "u".to_owned(),
            Self::Run => "run".to_owned(),
        }
    }

    /// Whether it shows one cycle, so that its name has it.
    pub fn has_cycle(self) -> bool {
        match self {
            Self::Figure(kind) => !kind.is_over_cycles(),
            Self::Field | Self::Iterate => true,
            Self::Run => false,
        }
    }

    /// The usual extension of its files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Figure(_) => "png",
            Self::Field | Self::Iterate => "npy",
            Self::Run => "toml",
        }
    }

    /// What is drawn for it in the preview; arrays are seen as a figure, too.
    pub fn kind(self) -> Option<FigureKind> {
        match self {
            Self::Figure(kind) => Some(kind),
            Self::Field | Self::Iterate => Some(FigureKind::BARE_MAP),
            Self::Run => None,
        }
    }

    /// The kind of figure that its file is, if it is one.
    pub fn figure(self) -> Option<FigureKind> {
        match self {
            Self::Figure(kind) => Some(kind),
            Self::Field | Self::Iterate | Self::Run => None,
        }
    }

    /// Whether its file can be a table of numbers.
    pub fn has_table(self) -> bool {
        self.figure().is_some_and(FigureKind::has_table)
    }

    /// Whether its picture has text, and a size of its own.
    pub fn has_page(self) -> bool {
        self.figure().is_some_and(|kind| kind.has_page())
    }
}
