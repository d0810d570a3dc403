//! Numbers as text, in messages, in the window and in figures.

/// The offset and the prime of FNV-1a with 64 bits (RFC 9923).
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// A number that stands for every bit of some values: FNV-1a.
pub fn fnv(values: impl Iterator<Item = f64>) -> u64 {
    fnv_of_bytes(values.flat_map(|value| value.to_bits().to_le_bytes()))
}

/// The same of a text.
#[cfg(not(target_arch = "wasm32"))]
pub fn fnv_of_text(text: &str) -> u64 {
    fnv_of_bytes(text.bytes())
}

fn fnv_of_bytes(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// Values one after the other, as a list has them: `32x16`, `0,1`.
pub fn joined<T: ToString>(values: &[T], between: &str) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// A value with up to four significant digits: `0.0312`, `12,346`, `−1.25×10⁻⁷`. Whole numbers
/// below a million keep all of theirs, and powers of ten below 0.01 are written as such: `10⁻⁴`. The
/// minus sign is a real one.
pub fn number(value: f64) -> String {
    if value.is_nan() {
        return "no value".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs();
    if size < 999_999.5 && size.fract() == 0.0 {
        return fixed(value, 0);
    }
    if !(0.000_999_95..99_999.5).contains(&size) {
        return scientific(value, 3, true);
    }
    let exponent = exponent_of(value);
    if exponent < -2 && size == power_of_ten(exponent) {
        return scientific(value, 0, true);
    }
    let decimals = (3 - exponent).clamp(0, 9) as usize;
    let text = fixed(value, decimals);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// With `decimals` decimals, commas between thousands, and a real minus sign.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", value.abs());
    let whole = digits.find('.').unwrap_or(digits.len());
    let mut text = String::with_capacity(digits.len() + 8);
    if value < 0.0 && digits.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        text.push('−');
    }
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && place < whole && (whole - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1.25×10⁻⁷`; `trim` drops zeros at the end of the mantissa, and a mantissa of 1: `10⁻⁷`.
pub(crate) fn scientific(value: f64, digits: usize, trim: bool) -> String {
    let text = format!("{:.digits$e}", value.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mantissa = if trim && mantissa.contains('.') {
        mantissa.trim_end_matches('0').trim_end_matches('.')
    } else {
        mantissa
    };
    let sign = if value < 0.0 { "−" } else { "" };
    let factor = if trim && mantissa == "1" { String::new() } else { format!("{mantissa}×") };
    format!("{sign}{factor}10{}", superscript(exponent.parse().unwrap_or(0)))
}

/// An exponent in superscript digits.
pub(crate) fn superscript(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    exponent.to_string().chars().map(digit).collect()
}

/// The exponent of the power of ten at or just below `|value|`; of 0 and what is not finite, 0.
pub(crate) fn exponent_of(value: f64) -> i32 {
    let size = value.abs();
    if size == 0.0 || !size.is_finite() {
        return 0;
    }
    let guess = size.log10().floor() as i32;
    // The logarithm may be rounded across a power of ten, either way.
    if size >= power_of_ten(guess + 1) {
        guess + 1
    } else if size < power_of_ten(guess) {
        guess - 1
    } else {
        guess
    }
}

/// The power as the decimal notation has it, so that 10⁻⁴ is 1e-4 to the last bit.
pub(crate) fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(f64::NAN)
}

/// A value rounded to three digits.
pub fn rounded(value: f64) -> String {
    number(format!("{value:.2e}").parse().unwrap_or(value))
}

/// A value rounded to two digits, where there is room for no more.
pub fn two_digits(value: f64) -> String {
    number(format!("{value:.1e}").parse().unwrap_or(value))
}

/// A share, 0 to 1, in per cent with two digits.
pub fn percent(share: f64) -> String {
    format!("{} %", two_digits(100.0 * share))
}

/// A positive number with at least three digits, and no more decimals than that takes.
pub fn digits(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        // The cast saturates.
        value => grouped(value.round() as u64),
    }
}

/// A number as it was typed, in any notation of programs or of [`number`].
pub fn parse_number(text: &str) -> Option<f64> {
    let plain = |letter: char| match letter {
        '−' | '⁻' => '-',
        _ => "⁰¹²³⁴⁵⁶⁷⁸⁹"
            .chars()
            .position(|raised| raised == letter)
            .map_or(letter, |digit| char::from_digit(digit as u32, 10).unwrap_or(letter)),
    };
    let text = text.trim().replace("×10", "e").replace(',', "");
    // A power of ten by itself: 10⁻⁴.
    let power = text.trim_start_matches(['-', '−']).strip_prefix("10");
    let text = match power.filter(|power| power.starts_with(|letter| plain(letter) != letter)) {
        Some(power) => format!("{}1e{power}", &text[..text.len() - power.len() - 2]),
        None => text,
    };
    text.chars().map(plain).collect::<String>().parse().ok()
}

/// Seconds with three digits, in µs, ms or s.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".to_owned(),
        seconds if seconds < 0.9995e-3 => format!("{} µs", digits(seconds * 1e6)),
        seconds if seconds < 0.9995 => format!("{} ms", digits(seconds * 1e3)),
        seconds => format!("{} s", digits(seconds)),
    }
}

/// A ratio that is compared with 1, with three decimals: `0.982`, `1.000`; beyond a million `5×10³⁰⁷`.
pub fn ratio(value: f64) -> String {
    match value.abs() < 1e6 {
        true => fixed(value, 3),
        false => number(value),
    }
}

/// A number with all its digits, so that reading a cell gives the same value again; nothing of one that is
/// not known.
pub(crate) fn cell(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| format!("{value:?}"))
}

/// `1 cycle`, `12,000 cycles`.
pub fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

/// A number with commas between thousands: 1,234,567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_read_as_it_is_written() {
        for value in [1e-4, -1e-9, 1e12, 0.05, -1.25e-7, 12_346.0, 10.0, 0.0] {
            assert_eq!(parse_number(&number(value)), Some(value));
        }
        assert_eq!(parse_number(" 1.0e-4 "), Some(1e-4));
        assert_eq!(parse_number("ten"), None);
    }

    #[test]
    fn numbers_read_well() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-2.5, "−2.5"),
            (0.031_25, "0.03125"),
            (0.000_1, "10⁻⁴"),
            (0.001, "10⁻³"),
            (0.002, "0.002"),
            (1.25e-7, "1.25×10⁻⁷"),
            (5888.0, "5,888"),
            (65_536.0, "65,536"),
            (12_345.678, "12,346"),
            (1e9, "10⁹"),
            (-3.5e12, "−3.5×10¹²"),
            (f64::NAN, "no value"),
            (f64::NEG_INFINITY, "−∞"),
            (99_999.7, "10⁵"),
            (1.000_04, "1"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value}");
        }
    }

    #[test]
    fn numbers_have_three_digits_or_more() {
        let texts = [0.0312, 4.449, 24.14, 383.4, 12_345.6].map(digits);
        assert_eq!(texts, ["0.03", "4.45", "24.1", "383", "12,346"]);
    }

    #[test]
    fn seconds_have_the_unit_that_suits_them() {
        let texts = [0.0, 2.414e-5, 1.35e-3, 0.9996e-3, 0.9999, 2.0, 10_800.0].map(seconds);
        let expected = ["0 s", "24.1 µs", "1.35 ms", "1.00 ms", "1.00 s", "2.00 s", "10,800 s"];
        assert_eq!(texts, expected);
    }
}
