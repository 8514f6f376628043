//! What the core costs: see `benches/`.
