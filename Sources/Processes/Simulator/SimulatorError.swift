/// Why the simulator cannot start, or cannot go on.
package enum SimulatorError: Error, Hashable, CustomStringConvertible {
    /// Something that the user gave, with what is wrong about it.
    case unusable(String)
    /// A file or a socket, and the system's reason.
    case system(String)

    package var description: String {
        switch self {
        case .unusable(let text), .system(let text): text
        }
    }
}
