@testable import RedisClient
@testable import StoreProtocol

enum SimulationFault: Error, CustomStringConvertible {
    /// The faults that the judge found.
    case accounting([String])
    case count(String)
    /// The work did not finish within the maximum number of turns without faults.
    case stuck(ReadDepths.Reply, String)

    var description: String {
        switch self {
        case .accounting(let faults): "the accounting: " + faults.joined(separator: "; ")
        case .count(let what): what
        case .stuck(let depths, let held): "it does not come to its end: \(depths) \(held)"
        }
    }
}
