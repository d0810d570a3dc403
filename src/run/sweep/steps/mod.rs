//! Measurements of a sweep in steps of some milliseconds. A step takes the sweep and gives
//! [`Poll::Ready`](std::task::Poll::Ready) when the measurement is complete; between two steps their
//! driver can pause or stop.

mod baseline;
mod cell;
mod predictions;
mod probe;

pub(in crate::run) use baseline::BaselineMeasurement;
pub(in crate::run) use cell::CellMeasurement;
pub(in crate::run) use predictions::Predictions;
pub(in crate::run) use probe::Probe;
