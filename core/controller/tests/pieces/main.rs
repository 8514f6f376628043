//! The pieces of a controller over the API server: caches, the queue, the client.

mod cache;
mod cache_property;
mod client;
mod queue_model;
mod server;
