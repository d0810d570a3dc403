//! Every claim of every lesson that comes with the program is measured: a lesson cannot be wrong for long.

use std::sync::atomic::AtomicBool;
use tilescope::lesson::lessons;

#[test]
fn every_claim_of_every_lesson_holds() {
    let cancel = AtomicBool::new(false);
    let mut failed = Vec::new();
    for lesson in lessons() {
        let checked = lesson.check(&cancel, &mut |_, _| {});
        assert!(!checked.is_empty(), "{} claims nothing", lesson.name);
        for claim in checked.into_iter().filter(|claim| !claim.holds) {
            failed.push(format!(
                "{}, line {}: {} {} is measured as {}",
                lesson.name, claim.line, claim.setting, claim.claim, claim.measured
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
