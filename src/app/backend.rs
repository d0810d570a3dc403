//! Where the solver runs, and why it cannot run elsewhere.

use super::theme::row;
use super::toolbar::named;
use crate::run::{Backend, MethodSpec};
use crate::solver::cuda::{self, Unavailable};
use eframe::egui::{ComboBox, DragValue, Ui};
use std::sync::{Arc, OnceLock};

/// The most threads that can be chosen.
const MOST_THREADS: usize = 256;

/// The back ends of this machine.
pub(super) struct Backends {
    /// The cards, once the driver has answered.
    cards: Arc<OnceLock<Result<Vec<String>, Unavailable>>>,
}

impl Backends {
    /// Asks the driver for its cards, on a thread of its own: that may take a second.
    pub fn look_for() -> Self {
        let cards = Arc::new(OnceLock::new());
        let answer = Arc::clone(&cards);
        let ask = move || _ = answer.set(cuda::cards());
        let spawned = std::thread::Builder::new().name("tilescope-cards".into()).spawn(ask);
        if let Err(error) = spawned {
            _ = cards.set(Err(Unavailable::Driver(error.to_string())));
        }
        Self { cards }
    }

    /// The menu of back ends, and the number of threads.
    pub fn ui(&self, ui: &mut Ui, method: &mut MethodSpec) {
        let about = "Where the solver runs.";
        row(ui, "Runs on", about, |ui| {
            let name = match method.backend {
                Backend::Cpu => "CPU",
                Backend::Cuda => "CUDA",
            };
            let combo = ComboBox::from_id_salt("backend").width(64.0).selected_text(name);
            let response = combo.show_ui(ui, |ui| {
                ui.selectable_value(&mut method.backend, Backend::Cpu, "CPU")
                    .on_hover_text("The cores of this machine.");
                ui.add_enabled_ui(false, |ui| ui.label(self.cuda()));
            });
            named(response.response, "Runs on").on_hover_text(about);
            let about = "Threads of the solver; no result depends on their number.";
            let threads = DragValue::new(&mut method.threads)
                .range(0..=MOST_THREADS)
                .clamp_existing_to_range(false)
                .update_while_editing(false)
                .speed(0.05)
                .custom_formatter(|threads, _| match threads as usize {
                    0 => "all cores".to_owned(),
                    1 => "1 thread".to_owned(),
                    threads => format!("{threads} threads"),
                });
            named(ui.add(threads), "Threads").on_hover_text(about);
        });
    }

    fn cuda(&self) -> String {
        match self.cards.get() {
            None => "CUDA: asking the driver …".to_owned(),
            Some(Ok(names)) => {
                format!("CUDA: {}; its kernels come with a later version", names.join(", "))
            }
            Some(Err(why)) => format!("CUDA: {why}"),
        }
    }
}
