//! Measures the core: see `benches/`.
