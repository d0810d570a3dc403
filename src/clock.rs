//! The one place from which the program takes the time.
//!
//! A browser has no `std::time::Instant`: a build for one takes its clock here, and nothing else
//! changes. A span of time is a plain value and comes from `std` everywhere.

#[cfg(not(target_arch = "wasm32"))]
pub use std::time::Instant;
#[cfg(target_arch = "wasm32")]
pub use web_time::Instant;
