//! Observing an iterate: the fields that there are, what can be requested of them, and the one function
//! that answers.

mod accelerated;
mod cut;
mod experiment;
mod field;
mod frequencies;
mod observation;
mod pass_log;
mod request;
mod row_map;
mod space_time;
mod volume;

pub use accelerated::AccelerationCurve;
pub use cut::{CutLine, FieldProfile};
pub use experiment::Experiment;
pub use field::{FieldKind, Picture};
pub use frequencies::{Frequencies, FrequencyRequest, MODE_NAMES, MOST_FREQUENCIES};
pub use observation::{FieldStatistics, Observation};
pub use pass_log::{MeasuredPass, PassLog};
pub use request::{MapRequest, ObservationRequest, ProfileRequest, SlicesRequest};
pub use row_map::{NO_ROW, RowLayout, RowMap};
pub(super) use space_time::Diagram;
pub use space_time::LONGEST_KEPT;
pub use volume::{MOST_VOLUME_SAMPLES, VolumeSamples};
