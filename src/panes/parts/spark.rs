//! A trend in one row of block characters.

const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// One character a value, on a scale from zero to the largest of them; a gap stays blank. Equal values make a flat line.
#[must_use]
pub(crate) fn spark(values: &[Option<f64>]) -> String {
    let known = |v: &Option<f64>| v.filter(|v| v.is_finite());
    let top = values.iter().filter_map(known).fold(0.0, f64::max);
    values.iter().map(|value| known(value).map_or(' ', |v| level(v, top))).collect()
}

fn level(value: f64, top: f64) -> char {
    let share = if top > 0.0 { value / top } else { 0.0 };
    // The first level that is not below the value.
    let steps = LEVELS.len() as f64;
    let at = (1_u8..8).find(|n| share * steps <= f64::from(*n)).unwrap_or(8);
    LEVELS.get(usize::from(at) - 1).copied().unwrap_or(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trends() {
        for (values, want) in [
            (vec![], ""),
            (vec![Some(0.0)], "▁"),
            (vec![Some(5.0), Some(5.0), Some(5.0)], "███"),
            (vec![Some(0.0), None, Some(8.0)], "▁ █"),
            (vec![Some(1.0), Some(2.0), Some(4.0), Some(8.0)], "▁▂▄█"),
            (vec![None, Some(3.0)], " █"),
            (vec![Some(f64::NAN), Some(f64::INFINITY), Some(-1.0), Some(1.0)], "  ▁█"),
            (vec![Some(f64::MAX), Some(f64::MIN)], "█▁"),
        ] {
            assert_eq!(spark(&values), want, "{values:?}");
        }
    }
}
