//! The time of the disk to store 4 KiB: no commit that survives a power failure can be quicker.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// The median of twenty, in milliseconds; `None` where nothing can be written.
pub(super) fn flush_ms(folder: &Path) -> Option<f64> {
    let path = folder.join(format!(".skipstone-flush-{}", std::process::id()));
    let times = File::create_new(&path).and_then(|file| times(&file));
    let _ = std::fs::remove_file(path);
    let mut times = times.ok()?;
    times.sort_by(f64::total_cmp);
    Some(times[times.len() / 2])
}

fn times(mut file: &File) -> std::io::Result<Vec<f64>> {
    let once = |_| {
        let began = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        Ok(began.elapsed().as_secs_f64() * 1e3)
    };
    (0..20).map(once).collect()
}
