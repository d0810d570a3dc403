//! How the rows of tiles of a grid are shared out over devices, and which planes devices exchange.
//!
//! Devices take rows of tiles along the slowest axis in contiguous runs. For the tile positions `j₀ ≤ j < j₁` of a
//! device, with computed points `[s_j, s_j + T)` and owned points `[c_j, c_{j+1})`:
//!
//! ```text
//! owned     [c_{j₀}, c_{j₁})
//! read      [s_{j₀} − 1, s_{j₁−1} + T + 1), within the grid
//! received  what is read and not owned, from the devices that own it
//! ```
//!
//! All are ranges of planes: rows of a 2D grid, xy-planes of a 3D grid, points of a line. Lines of a batch, and slabs that
//! visit fast memory, read nothing of each other. Blocks of a sparse matrix are shared out by their work, and a device
//! receives single rows.

use super::AxisTiling;
use std::ops::Range;

/// The shares of all devices, in the order of their planes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    axis: AxisTiling,
    shares: Vec<Share>,
    /// Tiles of each device that own planes which others receive.
    border_tiles: Vec<usize>,
}

/// What one device computes, keeps and receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// Positions of its tiles along the slowest axis.
    pub tiles: Range<usize>,
    /// The planes that its tiles compute: those of its array, without the layer around them.
    pub computed: Range<usize>,
    /// The planes that its tiles own.
    pub owned: Range<usize>,
    /// The planes that its tiles read and others own, device by device. Never more than its array and the layer
    /// around it have.
    pub received: Vec<Received>,
}

/// Planes that a device receives from another: a message of every exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// Which device owns them.
    pub from: usize,
    /// The planes, in runs: a single one on a grid.
    pub planes: Vec<Range<usize>>,
}

impl Received {
    /// How many planes they are.
    pub fn count(&self) -> usize {
        self.planes.iter().map(ExactSizeIterator::len).sum()
    }
}

/// Why tiles cannot be shared out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("simulate_devices is {devices}; {}", match .parts {
    0 | 1 => format!("it must be 1: there are too few {what} to share"),
    parts => format!("it must be 1 to {parts}, the {what} that devices share"),
})]
pub struct SharesError {
    /// The devices.
    pub devices: usize,
    /// The parts that can be shared out.
    pub parts: usize,
    /// What these are, such as `rows of tiles`.
    pub what: &'static str,
}

impl Shares {
    /// Shares out the tiles of the slowest axis over `devices`, each of which gets as many as any other or one less:
    /// all tiles compute the same number of points. (The last block of an axis that is cut into blocks may be
    /// shorter; its device is one of those with the most.)
    ///
    /// # Errors
    /// [`SharesError`] unless there are 1 to as many devices as tiles along the axis.
    pub fn new(axis: &AxisTiling, devices: usize) -> Result<Self, SharesError> {
        let shares = Self::independent(axis, devices)?;
        Ok(shares.receiving(|share| std::iter::once(share.read(axis.n())).collect()))
    }

    /// The same where no tile reads what others own, so that devices receive nothing.
    ///
    /// # Errors
    /// As [`Shares::new`].
    pub fn independent(axis: &AxisTiling, devices: usize) -> Result<Self, SharesError> {
        let tiles = axis.count();
        // Rounded down, so that the last device is one of those with the longer runs.
        let begin = |device: usize| {
            let (each, more) = (tiles / devices, tiles % devices);
            device * each + device * more / devices
        };
        Self::beginning(axis, devices, begin)
    }

    /// The same in proportion to the speeds of the devices, which are any measure of it: each begins with the tile before
    /// which their number is nearest to its part, and has one tile at least. Speeds that are no positive numbers share out
    /// evenly.
    ///
    /// # Errors
    /// As [`Shares::new`].
    pub fn by_speed(axis: &AxisTiling, speeds: &[f64]) -> Result<Self, SharesError> {
        if !speeds.iter().all(|speed| *speed > 0.0 && speed.is_finite()) {
            return Self::new(axis, speeds.len());
        }
        let (tiles, devices) = (axis.count(), speeds.len());
        check(devices, tiles)?;
        let all: f64 = speeds.iter().sum();
        let (mut begins, mut before) = (vec![0], 0.0);
        for device in 1..devices {
            before += speeds[device - 1];
            let even = (tiles as f64 * (before / all)).round() as usize;
            begins.push(even.clamp(begins[device - 1] + 1, tiles - (devices - device)));
        }
        begins.push(tiles);
        let shares = Self::beginning(axis, devices, |device| begins[device])?;
        Ok(shares.receiving(|share| std::iter::once(share.read(axis.n())).collect()))
    }

    /// Shares out blocks of rows of a matrix, so that the devices have as much of their work as runs of blocks allow:
    /// each begins with the block before which the work is nearest to its part of all work. `read` are the rows that
    /// the blocks of a device read, ascending, in runs.
    ///
    /// # Errors
    /// [`SharesError`] unless there are 1 to as many devices as blocks.
    ///
    /// # Panics
    /// If there are not as many works as blocks.
    pub fn of_blocks(
        axis: &AxisTiling,
        devices: usize,
        work: &[u64],
        read: impl FnMut(&Share) -> Vec<Range<usize>>,
    ) -> Result<Self, SharesError> {
        let blocks = axis.count();
        assert_eq!(work.len(), blocks, "the work of every block");
        check(devices, blocks)?;
        let mut before = vec![0];
        for (block, work) in work.iter().enumerate() {
            before.push(before[block] + u128::from(*work));
        }
        let mut begins = vec![0];
        for device in 1..devices {
            // In units of a device's part of all work, so that nothing is rounded.
            let even = before[blocks] * device as u128;
            let distance = |block: &usize| (before[*block] * devices as u128).abs_diff(even);
            let after = before.partition_point(|work| work * (devices as u128) < even);
            // Every device has a block.
            let possible = begins[device - 1] + 1..=blocks - (devices - device);
            let near = [after.saturating_sub(1), after];
            let near = near.map(|block| block.clamp(*possible.start(), *possible.end()));
            begins.extend(near.into_iter().min_by_key(distance));
        }
        begins.push(blocks);
        Ok(Self::beginning(axis, devices, |device| begins[device])?.receiving(read))
    }

    /// Contiguous runs of tiles, each of which begins where `begin` says.
    fn beginning(
        axis: &AxisTiling,
        devices: usize,
        begin: impl Fn(usize) -> usize,
    ) -> Result<Self, SharesError> {
        check(devices, axis.count())?;
        let shares = (0..devices).map(|device| {
            let tiles = begin(device)..begin(device + 1);
            let [first, last] = [tiles.start, tiles.end - 1];
            Share {
                computed: axis.computed(first).start..axis.computed(last).end,
                owned: axis.owned(first).start..axis.owned(last).end,
                tiles,
                received: Vec::new(),
            }
        });
        let border_tiles = vec![0; devices];
        Ok(Self { axis: axis.clone(), shares: shares.collect(), border_tiles })
    }

    /// The same where every device receives so many planes on either side of those that it owns, as far as there are any.
    #[must_use]
    pub fn receiving_around(self, planes: usize) -> Self {
        let n = self.axis.n();
        self.receiving(|Share { owned: Range { start, end }, .. }| {
            std::iter::once(start.saturating_sub(planes)..(end + planes).min(n)).collect()
        })
    }

    /// The same where every device receives what it reads and others own.
    fn receiving(mut self, mut read: impl FnMut(&Share) -> Vec<Range<usize>>) -> Self {
        let owned: Vec<_> = self.shares.iter().map(|share| share.owned.clone()).collect();
        for (device, share) in self.shares.iter_mut().enumerate() {
            let read = read(share);
            let others = owned.iter().enumerate().filter(|(from, _)| *from != device);
            let shared =
                others.map(|(from, owned)| Received { from, planes: common(&read, owned) });
            share.received = shared.filter(|received| !received.planes.is_empty()).collect();
        }
        self.border_tiles = (0..owned.len()).map(|device| self.tiles_sent_by(device)).collect();
        self
    }

    /// The share of every device.
    pub fn of_devices(&self) -> &[Share] {
        &self.shares
    }

    /// The tiles of the slowest axis.
    pub fn axis(&self) -> &AxisTiling {
        &self.axis
    }

    /// Where the planes of one device end and those of the next begin: borders between tiles, each lying before the
    /// plane of that number.
    pub fn borders(&self) -> impl Iterator<Item = usize> + '_ {
        self.shares[1..].iter().map(|share| share.owned.start)
    }

    /// Messages of an exchange, of all devices.
    pub fn messages(&self) -> usize {
        self.shares.iter().map(|share| share.received.len()).sum()
    }

    /// Planes that an exchange moves, of all devices.
    pub fn planes(&self) -> usize {
        self.shares.iter().map(Share::received_planes).sum()
    }

    /// How many tiles of a device own planes that others receive: they are computed first, and the others while their
    /// planes travel.
    pub fn border_tiles(&self, device: usize) -> usize {
        self.border_tiles[device]
    }

    /// The other tile positions of a device of a grid, between those at its borders: nobody receives what they own.
    pub fn inner_tiles(&self, device: usize) -> Range<usize> {
        let Range { start, end } = self.shares[device].tiles;
        let sent: Vec<_> = self.sent_by(device).collect();
        let is_inner = |tile: &usize| {
            let owned = self.axis.owned(*tile);
            sent.iter().all(|planes| planes.end <= owned.start || owned.end <= planes.start)
        };
        // What is sent lies at either end.
        match ((start..end).find(is_inner), (start..end).rfind(is_inner)) {
            (Some(first), Some(last)) => first..last + 1,
            _ => end..end,
        }
    }

    /// Whether a device that receives planes from another sends some back, and reads those that it receives in none but
    /// tiles whose planes are sent.
    pub fn is_answered(&self, from: usize, to: usize) -> bool {
        let inner = self.inner_tiles(to);
        let read = inner.clone().map(|tile| {
            let computed = self.axis.computed(tile);
            computed.start.saturating_sub(1)..computed.end + 1
        });
        let is_received = |planes: Range<usize>| {
            let received = self.shares[to].received.iter();
            received
                .flat_map(|it| &it.planes)
                .any(|it| it.start < planes.end && planes.start < it.end)
        };
        self.shares[from].received.iter().any(|it| it.from == to)
            && !read.into_iter().any(is_received)
    }

    /// The planes that others receive from a device, in runs.
    fn sent_by(&self, device: usize) -> impl Iterator<Item = &Range<usize>> {
        let received = self.shares.iter().flat_map(|share| &share.received);
        received.filter(move |it| it.from == device).flat_map(|it| &it.planes)
    }

    /// See [`Shares::border_tiles`].
    fn tiles_sent_by(&self, device: usize) -> usize {
        let owner = |plane| self.axis.owner(plane);
        let mut tiles: Vec<_> = self
            .sent_by(device)
            .flat_map(|planes| owner(planes.start)..=owner(planes.end - 1))
            .collect();
        tiles.sort_unstable();
        tiles.dedup();
        tiles.len()
    }
}

impl Share {
    /// The planes that its tiles read, of a grid of `n` planes.
    fn read(&self, n: usize) -> Range<usize> {
        self.computed.start.saturating_sub(1)..(self.computed.end + 1).min(n)
    }

    /// Planes that it receives with every exchange.
    pub fn received_planes(&self) -> usize {
        self.received.iter().map(Received::count).sum()
    }
}

/// Refuses more devices than there are parts to share, and none.
fn check(devices: usize, parts: usize) -> Result<(), SharesError> {
    match (1..=parts).contains(&devices) {
        true => Ok(()),
        false => Err(SharesError { devices, parts, what: "rows of tiles" }),
    }
}

/// What ascending runs have in common with a range.
fn common(runs: &[Range<usize>], range: &Range<usize>) -> Vec<Range<usize>> {
    let first = runs.partition_point(|run| run.end <= range.start);
    let here = runs[first..].iter().take_while(|run| run.start < range.end);
    here.map(|run| run.start.max(range.start)..run.end.min(range.end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(n: usize, tile: usize, overlap: usize, devices: usize) -> Shares {
        Shares::new(&AxisTiling::new(n, tile, overlap).unwrap(), devices).unwrap()
    }

    fn of_one(from: usize, planes: Range<usize>) -> Received {
        Received { from, planes: std::iter::once(planes).collect() }
    }

    #[test]
    fn planes_around_a_share_may_be_those_of_several_devices() {
        let axis = AxisTiling::bands(10, 2);
        let three = Shares::independent(&axis, 3).unwrap().receiving_around(5);
        let owned: Vec<_> = three.of_devices().iter().map(|share| share.owned.clone()).collect();
        assert_eq!(owned, [0..2, 2..6, 6..10]);
        let received: Vec<_> = three.of_devices().iter().map(|it| it.received.clone()).collect();
        assert_eq!(received[0], [of_one(1, 2..6), of_one(2, 6..7)]);
        assert_eq!(received[1], [of_one(0, 0..2), of_one(2, 6..10)]);
        assert_eq!(received[2], [of_one(0, 1..2), of_one(1, 2..6)]);
    }

    #[test]
    fn neighbours_exchange_half_the_overlap_and_a_halo() {
        // 34 tiles of 32, 28 apart: 32 · 28 + 32 = 928 points and more.
        let four = shares(956, 32, 4, 4);
        assert_eq!(four.axis().count(), 34);
        let tiles: Vec<_> = four.of_devices().iter().map(|share| share.tiles.clone()).collect();
        assert_eq!(tiles, [0..8, 8..17, 17..25, 25..34]);
        assert_eq!(four.borders().collect::<Vec<_>>(), [226, 478, 702]);
        let second = &four.of_devices()[1];
        assert_eq!((&second.owned, &second.computed), (&(226..478), &(224..480)));
        let [above, below] = [(0, 223..226), (2, 478..481)];
        let expected = [above, below].map(|(from, planes)| of_one(from, planes));
        assert_eq!(second.received, expected, "o/2 + 1 planes");
        assert_eq!((four.messages(), four.planes()), (6, 18));
        assert_eq!([0, 1, 3].map(|device| four.border_tiles(device)), [1, 2, 1]);
        assert!(
            [[0, 1], [1, 0], [2, 1], [2, 3]].iter().all(|&[from, to]| four.is_answered(from, to))
        );
    }

    /// The last tile is moved back until it is full, and then reads more of its neighbour.
    #[test]
    fn the_last_tile_may_receive_more() {
        let two = shares(33, 32, 0, 2);
        let [first, last] = two.of_devices() else { panic!("two devices") };
        assert_eq!((&last.computed, &last.owned), (&(1..33), &(16..33)));
        assert_eq!(last.received, [of_one(0, 0..16)]);
        assert_eq!(first.received, [of_one(1, 16..33)]);
    }

    #[test]
    fn a_device_may_receive_from_more_than_its_neighbours() {
        let points = shares(16, 10, 8, 4);
        let from: Vec<_> = points.of_devices()[3].received.iter().map(|it| it.from).collect();
        assert_eq!(from, [0, 1, 2]);
    }

    #[test]
    fn more_devices_than_rows_of_tiles_are_refused() {
        let axis = AxisTiling::new(256, 32, 0).unwrap();
        let refused = |devices| Shares::new(&axis, devices).unwrap_err().to_string();
        let expected =
            "simulate_devices is 9; it must be 1 to 8, the rows of tiles that devices share";
        assert_eq!(refused(9), expected);
        assert!(refused(0).starts_with("simulate_devices is 0; "));
    }

    #[test]
    fn a_device_that_is_three_times_as_fast_has_three_times_as_many_tiles() {
        let axis = AxisTiling::new(32 * 32, 32, 0).unwrap();
        let tiles = |speeds: &[f64]| {
            let shares = Shares::by_speed(&axis, speeds).unwrap();
            shares.of_devices().iter().map(|share| share.tiles.len()).collect::<Vec<_>>()
        };
        assert_eq!(tiles(&[3e9, 1e9]), [24, 8]);
        assert_eq!(tiles(&[1.0, 2.0, 1.0]), [8, 16, 8]);
        // Each has one at least.
        assert_eq!(tiles(&[1e-9, 1.0, 1e-9]), [1, 30, 1]);
        assert_eq!(tiles(&[1.0, 1e-9, 1e-9]), [30, 1, 1]);
        for unknown in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            assert_eq!(tiles(&[unknown, 1.0]), [16, 16]);
        }
        assert!(Shares::by_speed(&axis, &[1.0; 33]).is_err());
        assert!(Shares::by_speed(&axis, &[]).is_err());
    }

    fn any_axis() -> impl Strategy<Value = AxisTiling> {
        let tiles = (1..=40_usize).prop_flat_map(|tile| {
            (Just(tile), (0..=tile.saturating_sub(2) / 2).prop_map(|half| 2 * half))
        });
        (1..=400_usize, tiles, any::<bool>()).prop_map(|(n, (tile, overlap), are_blocks)| {
            match are_blocks {
                true => AxisTiling::blocks(n, tile, 0).unwrap(),
                false => AxisTiling::new(n, tile, overlap).unwrap(),
            }
        })
    }

    proptest! {
        #[test]
        fn every_plane_has_one_owner_and_what_is_read_is_there(
            axis in any_axis(), part in 0.0..1.0_f64,
        ) {
            let devices = 1 + (part * axis.count() as f64) as usize;
            let shares = Shares::new(&axis, devices).unwrap();
            let all = shares.of_devices();
            prop_assert_eq!(all.len(), devices);
            let mut next = (0, 0);
            for share in all {
                prop_assert_eq!((share.tiles.start, share.owned.start), next);
                next = (share.tiles.end, share.owned.end);
            }
            prop_assert_eq!(next, (axis.count(), axis.n()));
            let sizes = || all.iter().map(|share| share.tiles.len());
            prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
            for (device, share) in all.iter().enumerate() {
                for plane in share.tiles.clone().flat_map(|tile| {
                    let computed = axis.computed(tile);
                    computed.start.saturating_sub(1)..(computed.end + 1).min(axis.n())
                }) {
                    let runs = || share.received.iter().flat_map(|it| &it.planes);
                    let owners = runs().filter(|planes| planes.contains(&plane));
                    let is_owned = share.owned.contains(&plane);
                    prop_assert_eq!(owners.count() + usize::from(is_owned), 1, "plane {}", plane);
                }
                for received in &share.received {
                    let owner = &all[received.from].owned;
                    prop_assert!(received.from != device);
                    let [planes] = &received.planes[..] else { panic!("one run") };
                    prop_assert!(owner.start <= planes.start && planes.end <= owner.end);
                }
                prop_assert_eq!(share.received.is_empty(), devices == 1);
                let has_border = shares.border_tiles(device) > 0;
                prop_assert_eq!(has_border, devices > 1);
                let inner = shares.inner_tiles(device);
                for tile in share.tiles.clone() {
                    let owned = axis.owned(tile);
                    let is_sent = all.iter().flat_map(|share| &share.received).any(|it| {
                        it.from == device && !common(&it.planes, &owned).is_empty()
                    });
                    prop_assert_eq!(inner.contains(&tile), !is_sent, "tile {}", tile);
                }
                prop_assert_eq!(share.tiles.len() - inner.len(), shares.border_tiles(device));
                for Received { from, planes } in &share.received {
                    let is_sent_to = all[*from].received.iter().any(|it| it.from == device);
                    let reads = |tile: usize| {
                        let computed = axis.computed(tile);
                        !common(planes, &(computed.start.saturating_sub(1)..computed.end + 1)).is_empty()
                    };
                    let is_read_within = inner.clone().any(reads);
                    if shares.is_answered(*from, device) {
                        prop_assert!(is_sent_to && !is_read_within);
                    }
                }
            }
            prop_assert_eq!(shares.borders().count(), devices - 1);
        }

        /// Work is shared out to half of the largest block: no other beginning of a run would be nearer to its part.
        #[test]
        fn blocks_are_shared_out_by_their_work(
            work in prop::collection::vec(0..50_u64, 1..60),
            devices in 1..6_usize,
            read in prop::collection::vec(0..240_usize, 0..60),
        ) {
            let rows = 4 * work.len();
            let axis = AxisTiling::blocks(rows, 4, 2).unwrap();
            let read: std::collections::BTreeSet<_> = read.into_iter().filter(|it| *it < rows).collect();
            let runs = || read.iter().map(|row| *row..row + 1).collect();
            let made = Shares::of_blocks(&axis, devices, &work, |_| runs());
            let Ok(shares) = made else {
                prop_assert!(devices > work.len());
                return Ok(());
            };
            let (all, largest) = (work.iter().sum::<u64>(), *work.iter().max().unwrap());
            let mut next = 0;
            for (device, share) in shares.of_devices().iter().enumerate() {
                prop_assert_eq!(share.tiles.start, next);
                prop_assert!(!share.tiles.is_empty());
                next = share.tiles.end;
                let before: u64 = work[..share.tiles.start].iter().sum();
                let even = (all * device as u64) as f64 / devices as f64;
                // Blocks without work, and devices that must have one, may stand in between.
                if work.iter().all(|work| *work > 0) && work.len() >= 8 * devices && largest < 2 * work[0] {
                    prop_assert!((before as f64 - even).abs() <= largest as f64 / 2.0);
                }
                for row in 0..rows {
                    let is_received = share.received.iter().flat_map(|it| &it.planes).any(|it| it.contains(&row));
                    prop_assert_eq!(is_received, read.contains(&row) && !share.owned.contains(&row));
                }
            }
            prop_assert_eq!(next, work.len());
        }

        /// The tiles of a device, cut out, are those of the axis.
        #[test]
        fn tiles_that_are_cut_out_compute_and_own_the_same(
            n in 1..=400_usize, tile in 1..=40_usize, half in 0..20_usize, part in 0.0..1.0_f64,
        ) {
            let axis = AxisTiling::new(n, tile, 2 * half.min(tile.saturating_sub(2) / 2)).unwrap();
            let devices = 1 + (part * axis.count() as f64) as usize;
            for share in Shares::new(&axis, devices).unwrap().of_devices() {
                let cut = axis.cut_out(share.tiles.clone());
                let start = share.computed.start;
                let there = |range: Range<usize>| range.start + start..range.end + start;
                prop_assert_eq!(cut.count(), share.tiles.len());
                prop_assert_eq!(cut.n(), share.computed.len());
                for (at, tile) in share.tiles.clone().enumerate() {
                    prop_assert_eq!(there(cut.computed(at)), axis.computed(tile));
                    prop_assert_eq!(there(cut.owned(at)), axis.owned(tile));
                }
            }
        }
    }
}
