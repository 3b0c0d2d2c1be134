/// How many workers a host is to run.
package enum StaffWish: Equatable, Sendable {
    case fixed(Int)
    case auto

    /// `N` or `auto`; nil for anything else.
    package init?(_ text: String) {
        if text == "auto" {
            self = .auto
        } else if let number = Int(foreign: text), number > 0 {
            self = .fixed(number)
        } else {
            return nil
        }
    }

    package var text: String {
        switch self {
        case .fixed(let number): "\(number)"
        case .auto: "auto"
        }
    }
}
