/// State of one object. Relationships are recorded at both ends if changes of them could conflict.
enum GraphRecord: Equatable {
    case team(PlainGraph.Team)
    case player(PlainGraph.Player, captainOf: String?)
    case fan(team: String?)
    case plain
}

extension PlainGraph {
    var records: [String: GraphRecord] {
        var result: [String: GraphRecord] = [:]
        var captains: [String: String] = [:]
        var fanTeams: [String: String] = [:]
        for (name, team) in teams {
            result[name] = .team(team)
            if let captain = team.captain { captains[captain] = name }
            for fan in team.fans { fanTeams[fan] = name }
        }
        for (name, player) in players { result[name] = .player(player, captainOf: captains[name]) }
        for name in fans { result[name] = .fan(team: fanTeams[name]) }
        for name in skills.union(venues) { result[name] = .plain }
        return result
    }

    mutating func put(_ record: GraphRecord?, _ name: String) {
        switch record {
        case nil:
            teams[name] = nil
            players[name] = nil
            skills.remove(name)
            venues.remove(name)
            fans.remove(name)
        case .team(let team)?: teams[name] = team
        case .player(let player, _)?: players[name] = player
        case .fan?: fans.insert(name)
        case .plain?: if name.hasPrefix("Skill") { skills.insert(name) } else { venues.insert(name) }
        }
    }

    /// The names that an object refers to.
    static func references(of record: GraphRecord) -> Set<String> {
        switch record {
        case .team(let team): Set([team.captain, team.venue].compactMap { $0 } + team.fans)
        case .player(let player, let team): player.skills.union([player.team, team].compactMap { $0 })
        case .fan(let team): Set([team].compactMap { $0 })
        case .plain: []
        }
    }
}
