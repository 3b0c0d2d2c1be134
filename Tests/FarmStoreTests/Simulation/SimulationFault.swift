@testable import FarmStore

enum SimulationFault: Error, CustomStringConvertible {
    /// What the audit says.
    case books([String])
    case count(String)
    /// It never came to its end.
    case stuck(ReadDepths.Reply)

    var description: String {
        switch self {
        case .books(let faults): "the books: " + faults.joined(separator: "; ")
        case .count(let what): what
        case .stuck(let depths): "it does not come to its end: \(depths)"
        }
    }
}
