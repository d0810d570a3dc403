//! How a CPU keeps the entries of a sparse matrix. The kernels of GPUs for matrices have the same names
//! (`cuda/kernels.rs`).

use super::Kernel;

/// How a CPU keeps the entries of a sparse matrix that is cut into blocks of rows. No result depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// One list per row with the columns of the matrix: each entry is tested for being inside.
    Rows,
    /// Two lists per row, of the entries outside the block and inside it.
    Reorganised,
    /// The same; the sums over the entries outside are made once per cycle.
    #[default]
    Hoisted,
}

impl Layout {
    /// All of them, the fastest first.
    pub const ALL: [Self; 3] = [Self::Hoisted, Self::Reorganised, Self::Rows];

    /// The layout that a kernel's name stands for: the fastest, unless it is that of another.
    pub fn named(kernel: Kernel) -> Self {
        let named = Self::ALL.into_iter().find(|layout| layout.name() == kernel.name());
        named.unwrap_or_default()
    }

    /// The kernel of this name.
    pub const fn kernel(self) -> Kernel {
        Kernel::named(self.name())
    }

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Reorganised => "reorganised",
            Self::Hoisted => "hoisted",
        }
    }

    /// The name in menus and titles.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Rows => "Rows",
            Self::Reorganised => "Reorganised",
            Self::Hoisted => "Hoisted",
        }
    }

    /// How it works, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Rows => {
                "One list per matrix row; each entry is tested for being inside its block."
            }
            Self::Reorganised => {
                "The papers' reorganised rows: static entries (outside the block) and dynamic ones apart."
            }
            Self::Hoisted => "Reorganised rows whose static sums are computed once per cycle.",
        }
    }
}
