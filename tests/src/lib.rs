//! Conformance and whole-page tests.
