//! Possible values of options, made from the names and sentences that the library's own enums have.
//!
//! The library does not know the parser of the command line. This is the one place that ties the two
//! together: an enum with `ALL`, `name()` and `about()` becomes an option's list of values, and its
//! help, by one line below.

use crate::grid::Precision;
use crate::picture::{
    ColourMap, FigureKind, InsideKind, Norm, Over, Pairing, ScaleKind, SweepFigure, Theme,
};
use crate::problem::matrix::Ordering;
use crate::run::papers::Group;
use crate::run::{Backend, FieldKind, Measure, MethodName, PRESETS, ProblemKind, StopRule};
use crate::solver::{ExchangePath, Kernel, ShareBy, Slabs};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser};

/// Names of values, and older ones that still work.
const OLDER_NAMES: [(&str, &str); 4] =
    [("light", "print"), ("dark", "screen"), ("staleness", "lag"), ("update", "change")];

macro_rules! choices {
    ($($choice:ty),* $(,)?) => {$(
        impl ValueEnum for $choice {
            fn value_variants<'a>() -> &'a [Self] {
                &Self::ALL[..]
            }

            fn to_possible_value(&self) -> Option<PossibleValue> {
                // Help on the command line has no full stop at its end.
                let help = self.about().trim_end_matches('.');
                let older = OLDER_NAMES.iter().filter(|(name, _)| *name == self.name());
                let older = older.map(|(_, older)| *older);
                Some(PossibleValue::new(self.name()).help(help).aliases(older))
            }
        }
    )*};
}

choices!(Backend, ExchangePath, FieldKind, Group, Kernel, Measure, MethodName, Ordering);
choices!(Precision, ProblemKind, ShareBy, Slabs, StopRule);
choices!(ColourMap, FigureKind, InsideKind, Norm, Over, Pairing, ScaleKind, SweepFigure, Theme);

/// The names of presets, with hidden aliases for earlier ones.
pub(super) fn preset_names() -> PossibleValuesParser {
    let names = PRESETS.iter().map(|preset| {
        let help = preset.about.trim_end_matches('.');
        PossibleValue::new(preset.name).aliases(preset.earlier_names).help(help)
    });
    names.collect::<Vec<_>>().into()
}
