package import RESP

/// How many pushes are among the dead letters.
package struct CountDead: Request {
    package init() {}

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HGET")
        command.append(keys.prefix + Array("letters".utf8))
        command.append("pushes")
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Int {
        value.text.flatMap { Int($0) } ?? 0
    }
}
