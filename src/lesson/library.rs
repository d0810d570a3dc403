//! The lessons that come with the program.

use super::read::ReadLesson;
use super::steps::Lesson;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// A lesson that comes with the program: the name of its file, and its text.
macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("../../assets/lessons/", $name)))
    };
}

/// The files, in the order in which they are to be read.
const FILES: [(&str, &str); 14] = [
    file!("01-one-sweep.md"),
    file!("02-memory-is-the-price.md"),
    file!("03-frozen-halo.md"),
    file!("04-inside-a-cycle.md"),
    file!("05-overlap.md"),
    file!("06-exact-again.md"),
    file!("07-too-much.md"),
    file!("08-residual-and-error.md"),
    file!("09-what-a-cycle-damps.md"),
    file!("10-divergence.md"),
    file!("11-k-for-free.md"),
    file!("12-bigger-than-memory.md"),
    file!("13-matrix.md"),
    file!("14-several-gpus.md"),
];

/// A lesson to begin with: what `tilescope lesson --new` writes.
pub const TEMPLATE: &str = include_str!("../../assets/lessons/template.md");

/// The lessons that come with the program, in the order in which they are to be read.
pub fn lessons() -> &'static [Arc<Lesson>] {
    static LESSONS: LazyLock<Vec<Arc<Lesson>>> = LazyLock::new(|| {
        // Tests make sure that each can be read, and has no errors.
        let read =
            FILES.iter().filter_map(|(file, text)| Lesson::parse(text, Path::new(file)).ok());
        read.map(|ReadLesson { lesson, .. }| Arc::new(lesson)).collect()
    });
    &LESSONS
}

/// The lesson of this name that comes with the program.
pub fn lesson_named(name: &str) -> Option<Arc<Lesson>> {
    lessons().iter().find(|lesson| lesson.name == name).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_can_be_read_and_has_no_errors() {
        for (file, text) in FILES.iter().chain(&[("template.md", TEMPLATE)]) {
            let read = Lesson::parse(text, Path::new(file)).unwrap();
            let errors: Vec<_> = read.errors.iter().map(ToString::to_string).collect();
            assert!(errors.is_empty(), "{}", errors.join("\n"));
        }
        assert_eq!(lessons().len(), FILES.len());
    }

    #[test]
    fn lessons_name_those_before_them_and_have_three_to_seven_steps() {
        let names: Vec<_> = lessons().iter().map(|lesson| lesson.name.as_str()).collect();
        for (index, lesson) in lessons().iter().enumerate() {
            for before in &lesson.after {
                assert!(names[..index].contains(&before.as_str()), "{before}");
            }
            assert!((3..=7).contains(&lesson.steps.len()), "{}", lesson.name);
            assert!(lesson.minutes.is_some_and(|minutes| minutes <= 5), "{}", lesson.name);
            let claims: usize = lesson.steps.iter().map(|step| step.claims.len()).sum();
            assert!(claims > 0, "{} claims nothing", lesson.name);
        }
    }

    #[test]
    fn the_documentation_has_every_value() {
        let text = include_str!("../../assets/lessons/README.md");
        for measure in crate::lesson::Measure::ALL {
            let row = format!("| `{}` | {} |", measure.name, measure.about.replace('|', "\\|"));
            assert!(text.contains(&row), "{row}");
        }
    }

    /// A step is read while the picture is looked at.
    #[test]
    fn steps_are_short() {
        for lesson in lessons() {
            for step in &lesson.steps {
                let text: Vec<_> = step.text.iter().map(|paragraph| paragraph.text(None)).collect();
                let text = text.join(" ");
                let ends = text.matches(". ").count() + usize::from(text.ends_with('.'));
                assert!(ends <= 2, "{}, {}: {ends} sentences", lesson.name, step.title);
                assert!(text.split_whitespace().count() <= 60, "{}: {text}", lesson.name);
            }
        }
    }
}
