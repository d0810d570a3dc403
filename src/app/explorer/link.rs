//! Links to the page that open a run and what is shown of it, or a lesson.

use crate::app::dialogs::save::SaveDialog;
use crate::app::explorer::Explorer;
use crate::app::state::address;
use crate::lesson::lesson_named;
use crate::picture::{Opened, ViewSpec, link_text, read_link};
use crate::run::{Planner, RunSpec};
use eframe::egui;

/// What a link shows, after the address of the page.
const RUN: &str = "#run=";
const LESSON: &str = "#lesson=";

/// The address of a lesson that does not come with the program: a file of Markdown beside the page, or elsewhere on its
/// server.
#[cfg(target_arch = "wasm32")]
pub(super) fn own_lesson(shown: &str) -> Option<&str> {
    shown.strip_prefix(LESSON).filter(|address| address.ends_with(".md"))
}

impl Explorer {
    /// Copies a link that opens the run and what is shown of it, at the cycle that is shown.
    pub(super) fn copy_link(&mut self, context: &egui::Context) {
        let Some(page) = address::page() else { return };
        let text = link_text(&self.opened_again(context));
        context.copy_text(format!("{page}{RUN}{text}"));
        self.toasts.success("Link copied");
    }

    /// The run, and the figure that the save dialog would begin with.
    fn opened_again(&self, context: &egui::Context) -> Opened {
        let (session, report) = (&self.session, self.report.as_deref());
        let dialog = SaveDialog::new(context, session, report, Vec::new(), None);
        let view = dialog.view(session, report, self.map.range(session.view.field));
        let cycle = report.map_or(0, |report| report.observation.cycle);
        let view = Some(ViewSpec { cycle, ..view });
        Opened { run: RunSpec::clone(&session.spec), view }
    }

    /// Opens a lesson that a link shows and that does not come with the program, or says why it was not read.
    #[cfg(target_arch = "wasm32")]
    pub(super) fn show_own_lesson(&mut self, file: Result<std::path::PathBuf, String>) {
        self.end_welcome();
        match file {
            Ok(path) => self.files.open(path),
            Err(why) => self.toasts.error(why),
        }
    }

    /// Opens what a link shows. What cannot be opened is said; a link that shows nothing opens nothing.
    pub fn follow_link(&mut self, shown: &str) {
        let (run, lesson) = (shown.strip_prefix(RUN), shown.strip_prefix(LESSON));
        if run.is_some() || lesson.is_some() {
            // It would hide what is said.
            self.end_welcome();
        }
        if let Some(text) = run {
            let opened = read_link(text).map_err(|error| error.to_string()).and_then(|opened| {
                // Checked before it replaces the current run.
                Planner::default().plan(&opened.run).map_err(|error| error.to_string())?;
                Ok(opened)
            });
            match opened {
                Ok(opened) => self.show_opened(opened),
                Err(why) => self.toasts.error(why),
            }
        } else if let Some(name) = lesson {
            match lesson_named(name) {
                Some(lesson) => self.begin_lesson(lesson),
                None => self.toasts.error(format!("There is no lesson {name}.")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::matrix::Ordering;
    use crate::run::{FieldKind, MatrixSpec, ProblemKind, ProblemSpec};

    #[test]
    fn a_link_opens_the_run_and_the_view_that_it_was_made_of() {
        let context = egui::Context::default();
        let mut grid = RunSpec::default();
        (grid.problem.shape, grid.method.overlap) = (vec![40, 30], vec![4]);
        let matrix = MatrixSpec { ordering: Ordering::Tiles, ..MatrixSpec::new("poisson-16x16") };
        let problem = ProblemSpec {
            kind: ProblemKind::Matrix,
            shape: vec![256],
            matrix: Some(matrix),
            ..ProblemSpec::default()
        };
        let mut matrix = RunSpec { problem, ..grid.clone() };
        matrix.method.tile = vec![16];
        for run in [grid, matrix] {
            let mut first = Explorer::new(&context, None).unwrap();
            first.session.begin(run.clone());
            first.session.view.field = FieldKind::Solution;
            let mut second = Explorer::new(&context, None).unwrap();
            let opened = first.opened_again(&context);
            second.follow_link(&format!("{RUN}{}", link_text(&opened)));
            assert_eq!(*second.session.spec, run);
            assert_eq!(second.session.view.field, FieldKind::Solution);
            assert_eq!(second.opened_again(&context), opened);
        }
    }

    /// A link carries no files.
    #[test]
    fn a_link_to_a_file_that_is_not_there_opens_nothing() {
        let context = egui::Context::default();
        let mut run = RunSpec::default();
        run.problem.kind = ProblemKind::Matrix;
        run.problem.matrix = Some(MatrixSpec::new("lost.mtx"));
        let mut explorer = Explorer::new(&context, None).unwrap();
        let before = RunSpec::clone(&explorer.session.spec);
        explorer.follow_link(&format!("{RUN}{}", link_text(&Opened { run, view: None })));
        assert_eq!(*explorer.session.spec, before);
    }

    #[test]
    fn a_link_takes_the_place_of_the_welcome() {
        let context = egui::Context::default();
        let text = link_text(&Opened { run: RunSpec::default(), view: None });
        for shown in [format!("{RUN}{text}"), format!("{RUN}damaged")] {
            let mut explorer = Explorer::new(&context, None).unwrap();
            (explorer.welcome, explorer.waits_for_welcome) = (true, true);
            (explorer.session.running, explorer.session.pace) = (false, Some(30.0));
            explorer.follow_link(&shown);
            assert!(explorer.session.running && explorer.session.pace.is_none(), "{shown}");
            assert!(!explorer.welcome, "{shown}");
        }
    }

    #[test]
    fn a_link_begins_a_lesson_and_nothing_else_does() {
        let context = egui::Context::default();
        let mut explorer = Explorer::new(&context, None).unwrap();
        for shown in ["", "#", "#lesson=", "#lesson=none", "#run=", "#run=?"] {
            explorer.follow_link(shown);
            assert!(explorer.session.lesson.is_none(), "{shown}");
        }
        explorer.follow_link("#lesson=overlap");
        assert!(explorer.session.lesson.is_some());
    }
}
