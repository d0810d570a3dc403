//! What is to be saved, and what it is drawn from.

mod request;
mod sources;
mod what;

pub use request::SaveRequest;
pub use sources::Sources;
pub use what::What;
