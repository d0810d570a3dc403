//! The tiles of an axis against the formulas.

use crate::naive::AxisTiles;
use proptest::prelude::*;
use tilescope::grid::{AxisTiling, TilingError};

fn axis() -> impl Strategy<Value = (usize, usize, usize)> {
    (1..=400_usize, 1..=70_usize).prop_flat_map(|(n, tile)| {
        (Just(n), Just(tile), (0..=tile.saturating_sub(2) / 2).prop_map(|half| 2 * half))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn tiles_follow_the_formulas((n, tile, overlap) in axis()) {
        let tiling = AxisTiling::new(n, tile, overlap).expect("a valid tiling");
        let naive = AxisTiles::new(n, tile, overlap);
        let all = 0..tiling.count();
        prop_assert_eq!(all.clone().map(|j| tiling.computed(j)).collect::<Vec<_>>(), naive.computed);
        prop_assert_eq!(all.map(|j| tiling.owned(j)).collect::<Vec<_>>(), naive.owned);
    }

    #[test]
    fn every_point_is_owned_once_by_a_full_tile_that_computes_it((n, tile, overlap) in axis()) {
        let tiling = AxisTiling::new(n, tile, overlap).expect("a valid tiling");
        let mut owners = vec![0; n];
        for j in 0..tiling.count() {
            let (computed, owned) = (tiling.computed(j), tiling.owned(j));
            prop_assert_eq!(computed.len(), tile.min(n));
            prop_assert!(computed.end <= n);
            prop_assert!(!owned.is_empty());
            prop_assert!(computed.start <= owned.start && owned.end <= computed.end);
            for i in owned {
                owners[i] += 1;
                prop_assert_eq!(tiling.owner(i), j);
            }
        }
        prop_assert!(owners.iter().all(|&count| count == 1));
        prop_assert_eq!(tiling.borders().count() + 1, tiling.count());
    }

    #[test]
    fn neighbours_share_the_overlap_and_the_last_two_at_least_that((n, tile, overlap) in axis()) {
        let tiling = AxisTiling::new(n, tile, overlap).expect("a valid tiling");
        for j in 1..tiling.count() {
            let shared = tiling.computed(j - 1).end - tiling.computed(j).start;
            prop_assert!(shared == overlap || (j + 1 == tiling.count() && shared > overlap));
        }
    }

    #[test]
    fn distance_counts_points_to_the_nearest_border((n, tile, overlap) in axis()) {
        let tiling = AxisTiling::new(n, tile, overlap).expect("a valid tiling");
        for i in 0..n {
            // The points left and right of border c are c − 1 and c, both at distance 1.
            let to = |c: usize| if i < c { c - i } else { i - c + 1 };
            prop_assert_eq!(tiling.distance(i), tiling.borders().map(to).min());
        }
    }
}

#[test]
fn tiles_that_cannot_be_are_refused_by_name() {
    assert_eq!(AxisTiling::new(9, 0, 0), Err(TilingError::ZeroTile));
    assert_eq!(AxisTiling::new(9, 8, 3), Err(TilingError::OddOverlap { overlap: 3 }));
    let too_large = TilingError::OverlapTooLarge { overlap: 8, tile: 8 };
    assert_eq!(AxisTiling::new(9, 8, 8), Err(too_large.clone()));
    assert_eq!(too_large.to_string(), "overlap 8 is too large for tile 8; it must be 0 to 6");
    assert!(AxisTiling::new(9, 1, 2).is_err());
    // The overlap is checked against the tile as it was given, also where the axis is shorter.
    assert!(AxisTiling::new(4, 32, 30).is_ok());
}
