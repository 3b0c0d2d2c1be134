/// The exposure of all batches that a window holds, with the credit that is being asked for.
///
/// Kept, not summed up: there may be hundreds of batches, and every report asks.
final class ExposureTally {
    var sum = 0
}
