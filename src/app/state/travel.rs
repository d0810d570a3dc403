//! Which cycle of the run is shown, and how cycles are replayed.

/// The chosen cycle, and how the replay moves it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Travel {
    /// The cycle that is shown; `None` for the newest.
    pub at: Option<u64>,
    /// A cycle that is shown while the pointer is on it.
    pub preview: Option<u64>,
    /// Whether cycles are being replayed.
    pub playing: bool,
    /// Whether the replay loops.
    pub looped: bool,
    /// The first and the last replayed cycle; `None` for all cycles.
    pub part: Option<[u64; 2]>,
}

impl Travel {
    /// The newest cycle of another run, with the same looping.
    #[must_use]
    pub fn for_new_run(self) -> Self {
        Self { at: None, preview: None, playing: false, part: None, ..self }
    }

    /// The earlier cycle to show, if `latest` is the newest; `None` for the newest itself.
    pub fn earlier(&self, latest: u64) -> Option<u64> {
        self.preview.or(self.at).filter(|&cycle| cycle < latest)
    }

    /// The chosen cycle, if `latest` is the newest.
    pub fn cycle(&self, latest: u64) -> u64 {
        self.at.map_or(latest, |at| at.min(latest))
    }

    /// Moves to a cycle and stops there. At the newest cycle it follows the run.
    #[must_use]
    pub fn to(self, cycle: u64, latest: u64) -> Self {
        let at = (cycle < latest).then_some(cycle);
        Self { at, preview: None, playing: false, ..self }
    }

    /// Whether earlier cycles are viewed: one of them is shown or replayed, or a part is chosen.
    pub fn is_back(&self) -> bool {
        self.at.is_some() || self.playing || self.part.is_some()
    }

    /// The first and the last replayed cycle, if `latest` is the newest.
    pub fn played(&self, latest: u64) -> [u64; 2] {
        self.part.map_or([0, latest], |[from, to]| [from.min(latest), to.min(latest)])
    }

    /// Starts or stops the replay. At its end it starts again.
    #[must_use]
    pub fn play(self, playing: bool, latest: u64) -> Self {
        let [from, to] = self.played(latest);
        let here = self.cycle(latest);
        let at = if playing && !(from..to).contains(&here) { from } else { here };
        Self { playing, preview: None, ..self.to(at, latest) }
    }

    /// Advances the replay by some cycles; at its end it loops or stops.
    #[must_use]
    pub fn on(self, cycles: u64, latest: u64) -> Self {
        let [from, to] = self.played(latest);
        let next = self.cycle(latest) + cycles;
        let at = |cycle: u64| (cycle < latest).then_some(cycle);
        if next < to {
            Self { at: at(next), ..self }
        } else if self.looped && self.cycle(latest) >= to {
            Self { at: at(from), ..self }
        } else {
            Self { at: at(to), playing: self.looped, ..self }
        }
    }

    /// Moves one end of the replayed part to `cycle`; the part is never empty. All cycles are no
    /// part.
    #[must_use]
    pub fn with_end(self, end: usize, cycle: u64, latest: u64) -> Self {
        let [from, to] = self.played(latest);
        let part = match end {
            0 => [cycle.min(to.saturating_sub(1)), to],
            _ => [from, cycle.clamp((from + 1).min(latest), latest)],
        };
        Self { part: (part != [0, latest]).then_some(part), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_newest_cycle_the_window_follows_the_run() {
        let travel = Travel::default().to(7, 20);
        assert_eq!((travel.earlier(20), travel.cycle(20)), (Some(7), 7));
        assert_eq!(travel.to(20, 20).at, None);
        let preview = Travel { preview: Some(3), ..travel };
        assert_eq!((preview.earlier(20), preview.cycle(20)), (Some(3), 7));
        assert_eq!(Travel { preview: Some(20), ..travel }.earlier(20), None);
        assert_eq!(Travel { part: Some([2, 5]), ..travel }.for_new_run(), Travel::default());
    }

    #[test]
    fn a_replay_goes_through_its_part_and_stops_or_loops() {
        let part = Travel { part: Some([10, 14]), ..Travel::default() };
        let playing = part.play(true, 100);
        assert_eq!((playing.at, playing.playing), (Some(10), true));
        let next = playing.on(3, 100);
        assert_eq!((next.at, next.playing), (Some(13), true));
        let end = next.on(3, 100);
        assert_eq!((end.at, end.playing), (Some(14), false));
        let end = Travel { looped: true, ..next }.on(3, 100);
        // The last cycle is shown before the first is shown again.
        assert_eq!((end.at, end.playing), (Some(14), true));
        assert_eq!(end.on(1, 100).at, Some(10));
        // From the newest cycle, all cycles are replayed, and the replay ends there.
        let all = Travel::default().play(true, 5);
        assert_eq!(all.at, Some(0));
        assert_eq!((all.on(9, 5).at, all.on(9, 5).playing), (None, false));
        assert_eq!(part.to(12, 100).play(true, 100).at, Some(12));
    }

    #[test]
    fn a_part_has_ordered_ends_and_all_cycles_are_no_part() {
        let travel = Travel::default();
        assert_eq!(travel.with_end(0, 30, 100).part, Some([30, 100]));
        assert_eq!(travel.with_end(0, 200, 100).part, Some([99, 100]));
        let part = travel.with_end(0, 30, 100).with_end(1, 10, 100);
        assert_eq!(part.part, Some([30, 31]));
        assert_eq!(part.with_end(1, 100, 100).with_end(0, 0, 100).part, None);
    }
}
