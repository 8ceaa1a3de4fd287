use super::line::BenchLine;

/// One row a figure and one column a scenario, for people.
pub(crate) fn of(lines: &[BenchLine]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in lines.iter().flat_map(|line| &line.figures) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }

    let title = lines.first().map_or("", |line| line.bench.as_str());
    let header = lines.iter().map(|line| line.scenario.as_str());
    let mut rows = vec![std::iter::once(title).chain(header).collect::<Vec<_>>()];
    for name in names {
        let values = lines.iter().map(|line| {
            line.figures
                .iter()
                .find(|(figure, _)| figure == name)
                .map_or("-", |(_, value)| value.as_str())
        });
        rows.push(std::iter::once(name).chain(values).collect());
    }
    aligned(&rows)
}

/// The first column to the left, the others to the right.
fn aligned(rows: &[Vec<&str>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let cell = if column == 0 {
                format!("{cell:<width$}")
            } else {
                format!("  {cell:>width$}")
            };
            text.push_str(&cell);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_stand_side_by_side() {
        let lines = [
            r#"{"bench":"queue","scenario":"memory","jobs_per_s":120000,"p99_us":8}"#,
            r#"{"bench":"queue","scenario":"sqlite","jobs_per_s":9000,"wal_bytes":4096}"#,
        ]
        .map(|text| BenchLine::parse(text).unwrap());
        let expected = "queue       memory  sqlite\njobs_per_s  120000    9000\np99_us           8       -\n\
                        wal_bytes        -    4096\n";
        assert_eq!(of(&lines), expected);
    }
}
