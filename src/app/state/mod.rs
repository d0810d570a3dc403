//! What was chosen, pinned and compared, and the commands that change it.

pub mod address;
pub mod command;
pub mod compare;
pub mod compared;
pub mod devices;
pub mod drag;
pub mod experiments;
pub mod kept_range;
pub mod lesson;
pub mod pane_id;
pub mod pins;
pub mod reached_rate;
pub mod recent;
pub mod save;
pub mod scale;
pub mod session;
pub mod time_travel;
pub mod travel;
pub mod undo;
pub mod view_settings;
