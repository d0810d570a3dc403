//! Every claim of every lesson that comes with the program is measured: a lesson cannot be wrong for long.

use tilescope::lesson::lessons;
use tilescope::solver::StopToken;

#[test]
fn every_claim_of_every_lesson_holds() {
    let cancel = StopToken::default();
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
