//! What is to be saved, and what it is drawn from.

mod request;
mod saved_figure;
mod sources;
mod what;

pub use request::SaveRequest;
pub use saved_figure::SavedFigure;
pub use sources::Sources;
pub use what::What;
