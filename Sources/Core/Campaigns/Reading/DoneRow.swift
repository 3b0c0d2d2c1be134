import PushModel

/// Reads the id of a device from a row of a file of devices that are done.
package enum DoneRow {
    /// Why a row has no id.
    package struct Fault: Error, Equatable, Sendable {
        package let reason: String
    }

    /// The id of a line of NDJSON: a JSON string, or an object with the id in a field. Other fields do not matter.
    package static func id(ofJSON bytes: [UInt8], field: String) throws(Fault) -> String {
        let tree: JSONTree
        do throws(JSONError) { tree = try JSONTree(bytes) } catch {
            throw Fault(reason: "the line is not valid JSON: \(error.description)")
        }
        switch tree.content {
        case .string(let id): return id
        case .object(let members):
            guard let member = members.first(where: { $0.name == field }) else {
                throw Fault(reason: "there is no field \"\(field)\"")
            }
            guard case .string(let id) = member.value.content else {
                throw Fault(reason: "the field \"\(field)\" must be a string")
            }
            return id
        default: throw Fault(reason: "the line must be a string or an object")
        }
    }
}
