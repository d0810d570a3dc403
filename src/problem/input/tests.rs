use super::{MappedArray, PICTURE_PEAK, load, map_array, natural_shape};
use crate::grid::Shape;
use image::{DynamicImage, ImageBuffer, ImageFormat, Luma, LumaA, Rgb};
use npyz::WriterBuilder;
use std::io::Cursor;
use std::path::PathBuf;

/// A file that is removed again; its name says nothing about its contents.
struct Given {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn given(bytes: &[u8]) -> Given {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given.dat");
    std::fs::write(&path, bytes).unwrap();
    Given { _folder: folder, path }
}

impl Given {
    /// Its values, which are the same where they stay in the file, as is the sentence that refuses it.
    fn load(&self, shape: Shape) -> Result<Vec<f64>, String> {
        let loaded = load(&self.path, &shape);
        let loaded = loaded.map(|values| values.to_vec()).map_err(|error| error.to_string());
        let values = |mapped: MappedArray| (0..shape.points()).map(|at| mapped.at(at)).collect();
        let mapped = map_array(&self.path, &shape).map(|mapped| mapped.map(values));
        if let Some(mapped) = mapped.map_err(|error| error.to_string()).transpose() {
            assert_eq!(mapped, loaded);
        }
        loaded
    }

    /// The sentence that both functions refuse it with.
    fn refused(&self) -> String {
        let error = self.load(plane(3, 2)).unwrap_err();
        assert!(error.contains("given.dat"), "{error}");
        error
    }
}

fn plane(nx: usize, ny: usize) -> Shape {
    Shape::grid_2d(nx, ny).unwrap()
}

fn npy<T: npyz::Serialize>(
    kind: &str,
    shape: &[u64],
    order: npyz::Order,
    values: impl IntoIterator<Item = T>,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new()
        .dtype(npyz::DType::Plain(kind.parse().unwrap()))
        .shape(shape)
        .order(order)
        .writer(&mut bytes)
        .begin_nd()
        .unwrap();
    writer.extend(values).unwrap();
    writer.finish().unwrap();
    bytes
}

const NUMBERS: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

fn npy_f64(shape: &[u64], values: &[f64]) -> Vec<u8> {
    npy("<f8", shape, npyz::Order::C, values.iter().copied())
}

fn header_only(text: &str) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

fn encoded(picture: impl Into<DynamicImage>, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    picture.into().write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

#[test]
fn reads_arrays_of_every_kind() {
    let (c, fortran) = (npyz::Order::C, npyz::Order::Fortran);
    let column_by_column = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
    for bytes in [
        npy_f64(&[2, 3], &NUMBERS),
        npy(">f8", &[2, 3], c, NUMBERS),
        npy("<f4", &[2, 3], c, NUMBERS.map(|value| value as f32)),
        npy(">f4", &[2, 3], fortran, column_by_column.map(|value| value as f32)),
        npy("<f8", &[2, 3], fortran, column_by_column),
        npy("|u1", &[2, 3], c, NUMBERS.map(|value| value as u8)),
        npy(">i2", &[2, 3], c, NUMBERS.map(|value| value as i16)),
        npy("<i8", &[2, 3], c, NUMBERS.map(|value| value as i64)),
    ] {
        let file = given(&bytes);
        let is_in_order = !String::from_utf8_lossy(&bytes).contains("'fortran_order': True");
        assert_eq!(map_array(&file.path, &plane(3, 2)).unwrap().is_some(), is_in_order);
        assert_eq!(file.load(plane(3, 2)).unwrap(), NUMBERS);
        assert_eq!(file.load(Shape::grid_1d(3, 2).unwrap()).unwrap(), NUMBERS);
        assert_eq!(natural_shape(&file.path).unwrap(), plane(3, 2));
    }
}

/// Numbers that differ in every byte, of every size and in both byte orders.
#[test]
fn reads_every_byte_of_a_number() {
    let c = npyz::Order::C;
    let signs = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
    let of = |size: i64| signs.map(|sign| sign * size as f64);
    for order in ["<", ">"] {
        let kind = |name: &str| format!("{order}{name}");
        for (bytes, expected) in [
            (npy(&kind("f8"), &[2, 3], c, of(1).map(|value| value / 3.0)), of(1).map(|v| v / 3.0)),
            (
                npy(&kind("f4"), &[2, 3], c, of(1).map(|value| (value / 3.0) as f32)),
                of(1).map(|value| f64::from((value / 3.0) as f32)),
            ),
            (npy(&kind("i2"), &[2, 3], c, of(0x0102).map(|value| value as i16)), of(0x0102)),
            (npy(&kind("i4"), &[2, 3], c, of(0x0102_0304).map(|v| v as i32)), of(0x0102_0304)),
            (
                npy(&kind("i8"), &[2, 3], c, of(0x0001_0203_0405).map(|value| value as i64)),
                of(0x0001_0203_0405),
            ),
            (npy(&kind("u2"), &[2, 3], c, [0xfedc_u16; 6]), [f64::from(0xfedc_u16); 6]),
            (npy(&kind("u4"), &[2, 3], c, [0xfedc_ba98_u32; 6]), [f64::from(0xfedc_ba98_u32); 6]),
            (npy(&kind("u8"), &[2, 3], c, [0xfedc_ba98_u64; 6]), [f64::from(0xfedc_ba98_u32); 6]),
        ] {
            assert_eq!(given(&bytes).load(plane(3, 2)).unwrap(), expected, "{order}");
        }
    }
    let small = given(&npy("|i1", &[2, 3], c, [-7_i8; 6]));
    assert_eq!(small.load(plane(3, 2)).unwrap(), [-7.0; 6]);
}

/// Of four sides that differ: the value of a point says where it lies.
#[test]
fn reads_volumes_in_either_order() {
    let shape = Shape::grid_3d(4, 3, 2).unwrap();
    let value = |i: usize, j: usize, k: usize| (100 * k + 10 * j + i) as f64;
    let expected: Vec<_> = (0..24).map(|at| value(at % 4, at / 4 % 3, at / 12)).collect();
    let fortran = (0..24).map(|at| value(at / 6, at / 2 % 3, at % 2));
    for bytes in
        [npy_f64(&[2, 3, 4], &expected), npy("<f8", &[2, 3, 4], npyz::Order::Fortran, fortran)]
    {
        let file = given(&bytes);
        assert_eq!(file.load(shape).unwrap(), expected);
        assert_eq!(natural_shape(&file.path).unwrap(), shape);
        let error = file.load(Shape::grid_3d(2, 3, 4).unwrap()).unwrap_err();
        let needed = "shape [2, 3, 4]; shape 2 × 3 × 4 needs [4, 3, 2], that is [nz, ny, nx]";
        assert!(error.ends_with(needed), "{error}");
    }
    let mut broken = expected;
    broken[17] = f64::NAN;
    let error = given(&npy_f64(&[2, 3, 4], &broken)).load(shape).unwrap_err();
    assert!(error.contains("NaN at plane 1, row 1, column 1"), "{error}");
    let picture = encoded(ImageBuffer::from_pixel(4, 3, Luma([7_u8])), ImageFormat::Png);
    let error = given(&picture).load(shape).unwrap_err();
    assert!(error.contains("is an image") && error.contains("[nz, ny, nx]"), "{error}");
}

#[test]
fn one_line_serves_every_copy() {
    let file = given(&npy_f64(&[3], &NUMBERS[..3]));
    let expected = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0];
    assert_eq!(file.load(Shape::grid_1d(3, 2).unwrap()).unwrap(), expected);
    assert_eq!(natural_shape(&file.path).unwrap(), Shape::grid_1d(3, 1).unwrap());
}

#[test]
fn an_array_with_more_bytes_than_values_is_refused() {
    let mut bytes = npy_f64(&[2, 3], &NUMBERS);
    bytes.push(0);
    let error = given(&bytes).load(plane(3, 2)).unwrap_err();
    assert!(error.ends_with("it has 1 byte after its last value"), "{error}");
}

#[test]
fn names_both_shapes_when_they_differ() {
    let file = given(&npy_f64(&[2, 3], &NUMBERS));
    let error = file.load(plane(2, 3)).unwrap_err();
    assert!(error.ends_with("shape [2, 3]; shape 2 × 3 needs [3, 2], that is [ny, nx]"), "{error}");
    let error = file.load(Shape::grid_1d(5, 4).unwrap()).unwrap_err();
    assert!(error.ends_with("shape [2, 3]; shape 4 × 5 needs [5] or [4, 5]"), "{error}");
    for shape in [&[][..], &[1, 1, 2, 3], &[0, 3]] {
        let count = shape.iter().product::<u64>() as usize;
        let file = given(&npy_f64(shape, &NUMBERS[..count]));
        let error = natural_shape(&file.path).unwrap_err().to_string();
        assert!(error.contains(&format!("shape {shape:?}; a grid has")), "{error}");
        assert!(file.refused().contains("needs [2, 3]"));
    }
}

#[test]
fn names_the_first_value_that_is_not_finite() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut values = NUMBERS;
        (values[3], values[5]) = (value, value);
        let error = given(&npy_f64(&[2, 3], &values)).refused();
        assert!(error.contains(&format!("has {value} at row 1, column 0")), "{error}");
    }
}

#[test]
fn refuses_other_types() {
    let error = given(&npy("|S1", &[2, 3], npyz::Order::C, vec![b"a".to_vec(); 6])).refused();
    assert!(error.contains("values of type '|S1'"), "{error}");
    let record = "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 3)}\n";
    assert!(given(&header_only(record)).refused().contains("values of type"));
    let objects = "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}\n";
    assert!(given(&header_only(objects)).refused().contains("values of type"));
}

#[test]
fn refuses_an_array_cut_anywhere() {
    let bytes = npy_f64(&[2, 3], &NUMBERS);
    for length in 0..bytes.len() {
        let error = given(&bytes[..length]).refused();
        let known =
            ["is neither", "not a NumPy array", "ends before its last value; it should hold 6"];
        assert!(known.iter().any(|sentence| error.contains(sentence)), "{length}: {error}");
    }
}

#[test]
fn refuses_headers_that_promise_too_much() {
    let header = |shape: &str| {
        header_only(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}\n"))
    };
    let huge = given(&header("(999999999, 99999999)"));
    assert!(huge.refused().contains("[999999999, 99999999]"));
    assert!(natural_shape(&huge.path).is_ok());
    let overflow = given(&header("(4611686018427387904, 4611686018427387904)"));
    assert!(overflow.refused().contains("declares more values"));
    let long = given(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'");
    assert!(long.refused().contains("too long"));
    // Each bracket multiplies the time of the header's parser.
    assert!(given(&header_only(&"{".repeat(12))).refused().contains("plain numbers"));
    assert!(given(&header(&"(".repeat(900))).refused().contains("not a NumPy array"));
    assert!(given(&header("(-1, 3)")).refused().contains("plain numbers"));
}

#[test]
fn refuses_what_is_no_right_hand_side() {
    for bytes in [&b""[..], b"hello, grid", b"GIF89a\x01\x00\x01\x00", b"PK\x03\x04", b"\x93NUMP"] {
        assert!(given(bytes).refused().contains("is neither a NumPy array"));
    }
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().to_owned(), folder.path().join("missing")] {
        let error = load(&path, &plane(3, 2)).unwrap_err().to_string();
        assert!(error.contains("cannot be read"), "{error}");
        assert!(error.contains(&*path.to_string_lossy()), "{error}");
    }
}

#[test]
fn white_is_the_peak_and_row_0_stays_on_top() {
    let picture = image::GrayImage::from_raw(3, 2, vec![255, 0, 51, 0, 0, 255]).unwrap();
    let file = given(&encoded(picture, ImageFormat::Png));
    let expected = [1.0, 0.0, 0.2, 0.0, 0.0, 1.0].map(|bright| PICTURE_PEAK * bright);
    for (value, expected) in file.load(plane(3, 2)).unwrap().iter().zip(expected) {
        assert!((value - expected).abs() < 1e-5, "{value} instead of {expected}");
    }
}

#[test]
fn keeps_16_bits() {
    let picture: ImageBuffer<Luma<u16>, _> =
        ImageBuffer::from_raw(2, 1, vec![30_000, 30_001]).unwrap();
    let values = given(&encoded(picture, ImageFormat::Png)).load(plane(2, 1)).unwrap();
    let step = (values[1] - values[0]) / PICTURE_PEAK * 65_535.0;
    assert!((step - 1.0).abs() < 0.01, "{step}");
}

#[test]
fn transparent_is_dark() {
    let picture = image::GrayAlphaImage::from_pixel(4, 4, LumaA([255, 0]));
    let values = given(&encoded(picture, ImageFormat::Png)).load(plane(3, 2)).unwrap();
    assert_eq!(values, [0.0; 6]);
}

#[test]
fn resampling_keeps_the_average() {
    // Left half white: any grid gets half the peak, and dark on the right.
    let picture = image::RgbImage::from_fn(64, 48, |x, _| Rgb([if x < 32 { 255 } else { 0 }; 3]));
    let file = given(&encoded(picture, ImageFormat::Png));
    for shape in [plane(16, 12), plane(200, 150), plane(64, 5), Shape::grid_1d(32, 3).unwrap()] {
        let values = file.load(shape).unwrap();
        assert_eq!(values.len(), shape.points());
        let average = values.iter().sum::<f64>() / values.len() as f64;
        assert!((average / PICTURE_PEAK - 0.5).abs() < 1e-3, "{shape}: {average}");
        assert!(values[0] > 0.99 * PICTURE_PEAK && values[shape.nx() - 1] < 0.01 * PICTURE_PEAK);
    }
}

#[test]
fn reads_jpeg() {
    let picture = image::RgbImage::from_pixel(40, 30, Rgb([128; 3]));
    let bytes = encoded(picture, ImageFormat::Jpeg);
    let file = given(&bytes);
    for value in file.load(plane(8, 8)).unwrap() {
        assert!((value / PICTURE_PEAK - 128.0 / 255.0).abs() < 0.01, "{value}");
    }
    assert_eq!(natural_shape(&file.path).unwrap(), plane(40, 30));
}

#[test]
fn refuses_pictures_that_are_cut_or_too_large() {
    let noise = image::GrayImage::from_fn(64, 64, |x, y| Luma([(x * 37 + y * 101 + x * y) as u8]));
    for format in [ImageFormat::Png, ImageFormat::Jpeg] {
        let bytes = encoded(noise.clone(), format);
        for length in [16, 60, bytes.len() / 2, bytes.len() - 20] {
            let error = given(&bytes[..length]).refused();
            assert!(error.contains("is an image that cannot be read"), "{length}: {error}");
        }
    }
    // A PNG whose header declares 2³¹ − 1 pixels per side.
    let mut bytes = encoded(noise, ImageFormat::Png);
    bytes[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    assert!(given(&bytes).refused().contains("is an image that cannot be read"));
}

#[test]
fn a_picture_suggests_a_grid_of_its_aspect() {
    for ((width, height), expected) in
        [((300, 200), (300, 200)), ((2048, 1024), (512, 256)), ((1, 5000), (1, 512))]
    {
        let file = given(&encoded(image::GrayImage::new(width, height), ImageFormat::Png));
        assert_eq!(natural_shape(&file.path).unwrap(), plane(expected.0, expected.1));
    }
}
