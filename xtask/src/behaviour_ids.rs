use std::fmt;

/// The name of something that must hold: a behaviour (`Q-07`) or a promise (`G3`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum BehaviourId {
    Behaviour { area: char, number: u8 },
    Promise { number: u8 },
}

const PROMISES: std::ops::RangeInclusive<u8> = 1..=12;

impl BehaviourId {
    /// Every id that the text names, in the order of the text.
    pub(crate) fn all_in(text: &str) -> Vec<Self> {
        text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')
            .filter_map(Self::parse)
            .collect()
    }

    /// Whether it belongs to the area of this letter.
    pub(crate) fn is_in_area(self, letter: char) -> bool {
        match self {
            Self::Behaviour { area, .. } => area == letter,
            Self::Promise { .. } => letter == 'G',
        }
    }

    fn parse(word: &str) -> Option<Self> {
        let mut chars = word.chars();
        let area = chars.next().filter(char::is_ascii_uppercase)?;
        let rest = chars.as_str();
        match rest.strip_prefix('-') {
            Some(digits) if digits.len() == 2 => Some(Self::Behaviour {
                area,
                number: parse_digits(digits)?,
            }),
            None if area == 'G' && !rest.starts_with('0') => {
                let number = parse_digits(rest).filter(|number| PROMISES.contains(number))?;
                Some(Self::Promise { number })
            }
            _ => None,
        }
    }
}

fn parse_digits(text: &str) -> Option<u8> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

impl fmt::Display for BehaviourId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Behaviour { area, number } => write!(f, "{area}-{number:02}"),
            Self::Promise { number } => write!(f, "G{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        BehaviourId::all_in(text)
            .into_iter()
            .map(|id| id.to_string())
            .collect()
    }

    #[test]
    fn ids_are_found_in_prose() {
        assert_eq!(
            ids("/// Q-07, Q-09: both hold (G3; G-10)."),
            ["Q-07", "Q-09", "G3", "G-10"]
        );
        assert_eq!(ids("/// `G12` and G1"), ["G12", "G1"]);
    }

    #[test]
    fn what_only_looks_like_an_id_is_not_one() {
        assert_eq!(
            ids("UTF-08 q-07 Q-7 Q-007 Q-07x XQ-07 G0 G13 G01 G Q- A-1B x_Q-07 -Q-07 G-"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn behaviours_come_before_promises_and_by_number() {
        let mut found = BehaviourId::all_in("G12 Q-10 G2 B-03 Q-02");
        found.sort();
        let sorted: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(sorted, ["B-03", "Q-02", "Q-10", "G2", "G12"]);
    }
}
