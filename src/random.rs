//! Random numbers that never change, so that runs can be reproduced.

/// SplitMix64 (Steele, Lea, Flood 2014) of a counter, mapped to [−1, 1). Written out here because no library
/// guarantees its stream across versions.
pub(crate) fn random(seed: u64, counter: u64) -> f64 {
    let mut z = seed.wrapping_add(counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 * (2.0 / (1u64 << 53) as f64) - 1.0
}
