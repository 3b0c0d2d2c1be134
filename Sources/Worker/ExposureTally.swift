/// The exposure of all batches that a sender holds, with the credit that is being asked for: kept, not summed up, because
/// there may be hundreds of batches and every report asks.
final class ExposureTally {
    var sum = 0
}
