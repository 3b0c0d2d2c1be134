@testable import RedisClient
@testable import StoreProtocol

enum SimulationFault: Error, CustomStringConvertible {
    /// What the judge says.
    case accounting([String])
    case count(String)
    /// It never came to its end.
    case stuck(ReadDepths.Reply, String)

    var description: String {
        switch self {
        case .accounting(let faults): "the books: " + faults.joined(separator: "; ")
        case .count(let what): what
        case .stuck(let depths, let held): "it does not come to its end: \(depths) \(held)"
        }
    }
}
