//! How colours look with different kinds of colour vision, for tests that they remain distinct.

/// A kind of colour vision: normal, or without one of the three kinds of cones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vision {
    Usual,
    Protanopia,
    Deuteranopia,
    Tritanopia,
}

impl Vision {
    pub const ALL: [Self; 4] =
        [Self::Usual, Self::Protanopia, Self::Deuteranopia, Self::Tritanopia];

    /// What is left of linear red, green and blue: Machado, Oliveira and Fernandes, “A
    /// Physiologically-based Model for Simulation of Color Vision Deficiency” (2009), severity 1.
    const fn matrix(self) -> [[f64; 3]; 3] {
        match self {
            Self::Usual => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Self::Protanopia => [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
            Self::Deuteranopia => [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
            Self::Tritanopia => [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        }
    }

    /// The colour that is seen, in CIELAB with the white of sRGB (D65): lightness, green to red,
    /// blue to yellow.
    pub fn lab(self, colour: [u8; 3]) -> [f64; 3] {
        let linear = colour.map(|channel| {
            let channel = f64::from(channel) / 255.0;
            if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
        });
        let seen = times(self.matrix(), linear).map(|channel| channel.clamp(0.0, 1.0));
        // IEC 61966-2-1; its rows add up to the white.
        const XYZ: [[f64; 3]; 3] = [
            [0.412_456_4, 0.357_576_1, 0.180_437_5],
            [0.212_672_9, 0.715_152_2, 0.072_175_0],
            [0.019_333_9, 0.119_192_0, 0.950_304_1],
        ];
        let white = XYZ.map(|row| row.iter().sum::<f64>());
        let xyz = times(XYZ, seen);
        let [x, y, z] = [0, 1, 2].map(|axis| {
            let part: f64 = xyz[axis] / white[axis];
            if part > 216.0 / 24389.0 {
                part.cbrt()
            } else {
                (24389.0 / 27.0 * part + 16.0) / 116.0
            }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// The distance of two colours (CIE 1976): 2 is just seen, 100 is black and white.
    pub fn distance(self, one: [u8; 3], other: [u8; 3]) -> f64 {
        let (one, other) = (self.lab(one), self.lab(other));
        one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
    }
}

fn times(matrix: [[f64; 3]; 3], vector: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

#[test]
fn colours_that_differ_for_some_look_alike_to_others() {
    let (red, green) = ([0xa0, 0x40, 0x40], [0x5e, 0x66, 0x40]);
    assert!(Vision::Usual.distance(red, green) > 40.0);
    assert!(Vision::Deuteranopia.distance(red, green) < 20.0);
    for vision in Vision::ALL {
        let [lightness, a, b] = vision.lab([255; 3]);
        assert!((lightness - 100.0).abs() < 0.1 && a.abs() < 0.1 && b.abs() < 0.1, "{vision:?}");
        assert!((vision.distance([0; 3], [255; 3]) - 100.0).abs() < 0.1, "{vision:?}");
    }
}
